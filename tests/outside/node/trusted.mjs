// Runs clients against a gateway that runs trusted documents only: Apollo Client and urql with ids
// of a manifest, Relay with the ids of its compiler, and the web client in Chromium.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ApolloClient, gql as apolloGql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { generatePersistedQueryIdsFromManifest } from "@apollo/persisted-query-lists";
import { Client, fetchExchange, gql } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import relayRuntime from "relay-runtime";
import { launch, newSeen, operationOf, pinsOn, profile, signIn, WIDE } from "./browser.mjs";
import { authorization, ENDPOINT, report, URL_BASE } from "./support.mjs";

const { FOLDER, IDS } = process.env;
const ids = JSON.parse(IDS);
const NAME = { name: "demo" };

async function apollo() {
  const manifest = JSON.parse(readFileSync(join(FOLDER, "apollo", "persisted.json"), "utf8"));
  const link = new PersistedQueryLink(
    generatePersistedQueryIdsFromManifest({ loadManifest: async () => manifest }),
  );
  const http = new HttpLink({ uri: ENDPOINT, headers: authorization() });
  const query = apolloGql(readFileSync(join(FOLDER, "apollo", "src", "query.graphql"), "utf8"));
  const own = apolloGql("query Own { viewer { username } }");
  const clientOf = (chain) => new ApolloClient({ cache: new InMemoryCache(), link: chain });
  const { data } = await clientOf(link.concat(http)).query({ query, variables: NAME });
  const refused = await clientOf(http)
    .query({ query: own })
    .catch((error) => error.errors[0].extensions.code);
  return { trusted: data.user.username, refused };
}

async function urql() {
  const client = new Client({
    url: ENDPOINT,
    exchanges: [
      persistedExchange({ enforcePersistedQueries: true, generateHash: async () => ids.codegen.Codegen }),
      fetchExchange,
    ],
    fetchOptions: () => ({ headers: authorization() }),
  });
  const query = gql(readFileSync(join(FOLDER, "codegen", "query.graphql"), "utf8"));
  const { data, error } = await client.query(query, NAME).toPromise();
  if (error) throw error;
  return data.user.username;
}

async function relay() {
  const sent = [];
  const environment = new relayRuntime.Environment({
    store: new relayRuntime.Store(new relayRuntime.RecordSource()),
    network: relayRuntime.Network.create(async ({ id, text }, variables) => {
      sent.push(text);
      const response = await fetch(ENDPOINT, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization() },
        body: JSON.stringify({ doc_id: id, variables }),
      });
      return response.json();
    }),
  });
  const require = createRequire(join(FOLDER, "relay", "package.json"));
  const artifact = require("./artifacts/HomeFeedQuery.graphql.js");
  const query = artifact.default ?? artifact;
  const data = await relayRuntime.fetchQuery(environment, query, { count: 5 }).toPromise();
  return { texts: sent.filter(Boolean).length, answered: Boolean(data) };
}

async function web() {
  const seen = newSeen();
  const browser = await launch();
  const bodies = [];
  const refused = [];
  try {
    const context = await profile(browser, WIDE, await signIn("demo"), seen);
    const page = await context.newPage();
    page.on("request", (request) => operationOf(request) && bodies.push(operationOf(request)));
    page.on("response", async (response) => {
      if (operationOf(response.request()) && (await response.text().catch(() => "")).includes("PERSISTED")) refused.push(1);
    });
    await page.goto(URL_BASE);
    await page.locator("[data-pin]").first().waitFor();
    const [pin] = await pinsOn(page, "main");
    const answered = page.waitForResponse(
      (response) => operationOf(response.request())?.operationName === "PinPage",
    );
    await page.goto(`${URL_BASE}/pin/${pin}`);
    await answered;
    await page.goto(`${URL_BASE}/user/demo`);
    await page.locator("h1").first().waitFor();
  } finally {
    await browser.close();
  }
  return {
    names: [...new Set(bodies.map(({ operationName }) => operationName))].sort(),
    texts: bodies.filter(({ query }) => query).length,
    refused: refused.length,
    pageErrors: seen.pageErrors,
  };
}

await report(async () => ({ apollo: await apollo(), urql: await urql(), relay: await relay(), web: await web() }));
