// Runs Apollo's persisted-query link and urql's persistedExchange against a gateway that keeps no
// documents: each sends a hash first, and must send the document after the refusal.
import { createHash } from "node:crypto";
import { ApolloClient, gql as apolloGql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange, gql } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { authorization, ENDPOINT, report } from "./support.mjs";

const QUERY = "query Named($name: String!) { user(username: $name) { username } }";
const NAME = { name: "demo" };
const sha256 = async (text) => createHash("sha256").update(text).digest("hex");

// Counts the requests by what they carry.
function counting() {
  const sent = [];
  const counted = async (url, options = {}) => {
    const { searchParams } = new URL(url);
    const body = options.body ? JSON.parse(options.body) : Object.fromEntries(searchParams);
    const extensions = typeof body.extensions === "string" ? JSON.parse(body.extensions) : body.extensions;
    const parts = [body.query && "document", extensions?.persistedQuery && "hash"];
    sent.push(`${options.method ?? "GET"} ${parts.filter(Boolean).join(" and ")}`);
    return fetch(url, options);
  };
  return { sent, counted };
}

async function apollo(byGet) {
  const { sent, counted } = counting();
  const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries: byGet });
  const http = new HttpLink({ uri: ENDPOINT, headers: authorization(), fetch: counted });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: persisted.concat(http) });
  const names = [];
  for (let turn = 0; turn < 2; turn++) {
    const options = { query: apolloGql(QUERY), variables: NAME, fetchPolicy: "network-only" };
    names.push((await client.query(options)).data.user.username);
  }
  return { names, sent };
}

async function urql(byGet) {
  const { sent, counted } = counting();
  const client = new Client({
    url: ENDPOINT,
    exchanges: [persistedExchange({ preferGetForPersistedQueries: byGet }), fetchExchange],
    fetchOptions: () => ({ headers: authorization() }),
    fetch: counted,
    preferGetMethod: byGet,
  });
  const names = [];
  for (let turn = 0; turn < 2; turn++) {
    const { data, error } = await client.query(gql(QUERY), NAME, { requestPolicy: "network-only" }).toPromise();
    if (error) throw error;
    names.push(data.user.username);
  }
  return { names, sent };
}

await report(async () => ({
  apollo: { post: await apollo(false), get: await apollo(true) },
  urql: { post: await urql(false), get: await urql(true) },
}));
