// Reads a board whose pins come before their counts, with Apollo Client, urql and Relay.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { Defer20220824Handler } from "@apollo/client/incremental";
import * as urqlCore from "@urql/core";
import relay from "relay-runtime";
import { authorization, ENDPOINT, makeBoard, nodes, report } from "./support.mjs";

const BOARD = `
  query Board($id: ID!) {
    board(id: $id) {
      id
      name
      pins(first: 5) {
        edges {
          node {
            id
            title
            owner { id username }
            ... @defer(label: "counts") { likeCount owner { id pinCount } }
          }
        }
      }
    }
  }
`;
const STREAMED = `
  query Board($id: ID!) {
    board(id: $id) {
      id
      name
      pins(first: 5) { edges @stream(initialCount: 1, label: "more") { node { id title likeCount } } }
    }
  }
`;
const WRONG = `
  query Wrong($id: ID!) {
    board(id: $id) { id name ... @defer { pins(first: 5, after: "no cursor") { edges { cursor } } } }
  }
`;

// What a view shows of the board.
const shown = (board) => nodes(board.pins).map((pin) => [pin.title, pin.likeCount ?? null]);

async function apollo(id, text) {
  const client = new ApolloClient({
    link: new HttpLink({ uri: ENDPOINT, headers: authorization() }),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
  const results = [];
  const observable = client.watchQuery({ query: gql(text), variables: { id }, errorPolicy: "all" });
  await new Promise((resolve) =>
    observable.subscribe((result) => {
      if (result.data) results.push(result);
      if (!result.loading && result.networkStatus !== 9) resolve();
    }),
  );
  return results;
}

async function urql(id, text) {
  const client = new urqlCore.Client({
    url: ENDPOINT,
    exchanges: [urqlCore.cacheExchange, urqlCore.fetchExchange],
    fetchOptions: () => ({ headers: authorization() }),
    preferGetMethod: false,
  });
  const results = [];
  await new Promise((resolve) => {
    client.query(text, { id }).subscribe((result) => {
      results.push(result);
      if (!result.hasNext) resolve();
    });
  });
  return results;
}

// Yields the parts of a multipart response.
async function* partsOf(response) {
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const parts = text.split("\r\n---");
    text = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part.slice(part.indexOf("\r\n\r\n")));
  }
}

// Relay takes each part as a result of its own.
function relayNetwork() {
  return relay.Network.create(({ text }, variables) =>
    relay.Observable.create((sink) => {
      (async () => {
        const response = await fetch(ENDPOINT, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "multipart/mixed;deferSpec=20220824, application/json",
            ...authorization(),
          },
          body: JSON.stringify({ query: text, variables }),
        });
        for await (const { data, incremental, hasNext } of partsOf(response)) {
          if (!incremental) sink.next({ data });
          for (const [number, part] of (incremental ?? []).entries()) {
            const is_final = !hasNext && number === incremental.length - 1;
            sink.next({ ...part, extensions: { is_final } });
          }
        }
        sink.complete();
      })().catch(sink.error);
    }),
  );
}

async function relayRuntime(id) {
  const folder = mkdtempSync(join(tmpdir(), "defer-"));
  try {
    const name = "DeferredCounts.js";
    cpSync(join(import.meta.dirname, "relay", name), join(folder, name));
    cpSync(process.env.SCHEMA, join(folder, "schema.graphql"));
    mkdirSync(join(folder, "artifacts"));
    symlinkSync(join(import.meta.dirname, "node_modules"), join(folder, "node_modules"));
    const config = { src: ".", schema: "schema.graphql", language: "javascript" };
    const file = JSON.stringify({ ...config, artifactDirectory: "artifacts", eagerEsModules: false });
    writeFileSync(join(folder, "relay.config.json"), file);
    writeFileSync(join(folder, "package.json"), '{"type": "commonjs"}');
    const cli = join(import.meta.dirname, "node_modules", "relay-compiler", "cli.js");
    execFileSync(process.execPath, [cli, "relay.config.json"], { cwd: folder, stdio: "pipe" });
    const artifact = createRequire(join(folder, "artifacts", "x.js"))("./DeferredCountsQuery.graphql.js");
    const store = new relay.Store(new relay.RecordSource());
    const environment = new relay.Environment({ store, network: relayNetwork() });
    const warnings = [];
    console.error = (...message) => warnings.push(message.join(" "));
    const results = [];
    const operation = relay.createOperationDescriptor(artifact, { id });
    await new Promise((resolve, reject) =>
      environment.execute({ operation }).subscribe({
        next: () => {
          const records = environment.getStore().getSource();
          const pins = records.getRecordIDs().filter((key) => records.get(key).__typename === "Pin");
          results.push(pins.map((key) => [records.get(key).title, records.get(key).likeCount ?? null]));
        },
        complete: resolve,
        error: reject,
      }),
    );
    const records = environment.getStore().getSource();
    const users = records.getRecordIDs().filter((key) => records.get(key).__typename === "User");
    return {
      first: results[0],
      last: results.at(-1),
      users: users.map((key) => [records.get(key).username, records.get(key).pinCount]),
      warnings,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await report(async () => {
  const { id } = await makeBoard("Counts later", ["one", "two"]);
  const ofApollo = await apollo(id, BOARD);
  const ofUrql = await urql(id, BOARD);
  const streamed = [await apollo(id, STREAMED), await urql(id, STREAMED)];
  const wrongApollo = await apollo(id, WRONG);
  const wrongUrql = await urql(id, WRONG);
  return {
    apollo: ofApollo.map(({ data }) => shown(data.board)),
    urql: ofUrql.map(({ data }) => shown(data.board)),
    hasNext: ofUrql.map(({ hasNext }) => hasNext),
    whole: nodes(ofUrql.at(-1).data.board.pins)[0].owner,
    wrong: {
      apollo: wrongApollo.at(-1).data.board.name,
      apolloError: wrongApollo.at(-1).error?.message ?? null,
      urql: wrongUrql.at(-1).data.board.name,
      urqlError: wrongUrql.at(-1).error?.graphQLErrors.map((error) => error.message) ?? null,
    },
    streamed: streamed.map((results) => results.map(({ data }) => shown(data.board))),
    relay: await relayRuntime(id),
  };
});
