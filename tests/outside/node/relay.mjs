// Runs Relay: its compiler reads the schema, and its runtime runs the operations compiled.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import relay from "relay-runtime";
import { authorization, ENDPOINT, makeBoard, report, send } from "./support.mjs";

const HERE = import.meta.dirname;
const CONFIG = {
  src: ".",
  schema: "schema.graphql",
  language: "javascript",
  artifactDirectory: "artifacts",
  eagerEsModules: false,
};

// Compiles relay/*.js against the schema in SCHEMA. Returns the names of the files written.
function compile(folder) {
  cpSync(join(HERE, "relay"), folder, { recursive: true });
  cpSync(process.env.SCHEMA, join(folder, "schema.graphql"));
  mkdirSync(join(folder, CONFIG.artifactDirectory));
  symlinkSync(join(HERE, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "relay.config.json"), JSON.stringify(CONFIG));
  writeFileSync(join(folder, "package.json"), '{"type": "commonjs"}');
  const cli = join(HERE, "node_modules", "relay-compiler", "cli.js");
  execFileSync(process.execPath, [cli, "relay.config.json"], { cwd: folder, stdio: "pipe" });
  return readdirSync(join(folder, "artifacts")).sort();
}

function environment() {
  return new relay.Environment({
    store: new relay.Store(new relay.RecordSource()),
    network: relay.Network.create(async ({ text }, variables) => {
      const response = await fetch(ENDPOINT, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization() },
        body: JSON.stringify({ query: text, variables }),
      });
      return response.json();
    }),
  });
}

const query = (relayEnvironment, artifact, variables) =>
  relay
    .fetchQuery(relayEnvironment, artifact, variables, { networkCacheConfig: { force: true } })
    .toPromise();

const mutate = (relayEnvironment, mutation, variables) =>
  new Promise((resolve, reject) =>
    relay.commitMutation(relayEnvironment, {
      mutation,
      variables,
      onCompleted: (answer, errors) => (errors ? reject(errors) : resolve(answer)),
      onError: reject,
    }),
  );

// Returns a connection's nodes from Relay's store, and whether the connection has another page.
function held(relayEnvironment, parentId, key) {
  let seen;
  relay.commitLocalUpdate(relayEnvironment, (store) => {
    const parent = parentId ? store.get(parentId) : store.getRoot();
    const connection = relay.ConnectionHandler.getConnection(parent, key);
    const pageInfo = connection.getLinkedRecord("pageInfo");
    seen = {
      nodes: connection.getLinkedRecords("edges").map((edge) => edge.getLinkedRecord("node")),
      cursor: pageInfo.getValue("endCursor"),
      start: pageInfo.getValue("startCursor"),
      hasNext: pageInfo.getValue("hasNextPage"),
      hasPrevious: pageInfo.getValue("hasPreviousPage"),
      visit: connection.getValue("visitId"),
    };
  });
  return seen;
}

const values = (records, name) => records.map((record) => record.getValue(name));

async function homeFeed(relayEnvironment, artifact) {
  await query(relayEnvironment, artifact("HomeFeedQuery"), { count: 5 });
  const first = held(relayEnvironment, null, "HomeFeed_homeFeed");
  const variables = { count: 5, cursor: first.cursor, visit: first.visit };
  await query(relayEnvironment, artifact("HomeFeedPaginationQuery"), variables);
  const both = held(relayEnvironment, null, "HomeFeed_homeFeed");
  return { first: values(first.nodes, "id"), both: values(both.nodes, "id") };
}

async function board(relayEnvironment, artifact) {
  const key = "BoardPins_pins";
  const { id } = await makeBoard("Relay's board", ["one", "two", "three"]);
  const { node } = await query(relayEnvironment, artifact("BoardPinsQuery"), { id, count: 2 });
  const { cursor } = held(relayEnvironment, id, key);
  await query(relayEnvironment, artifact("BoardPinsPaginationQuery"), { id, count: 2, cursor });
  const paged = held(relayEnvironment, id, key);
  const connections = [relay.ConnectionHandler.getConnectionID(id, key)];
  const input = { boardId: id, title: "four" };
  await mutate(relayEnvironment, artifact("BoardPinsCreateMutation"), { input, connections });
  const created = held(relayEnvironment, id, key);
  const pinId = values(created.nodes, "id")[0];
  await mutate(relayEnvironment, artifact("BoardPinsLikeMutation"), { input: { pinId } });
  return {
    typename: node.__typename,
    paged: values(paged.nodes, "title"),
    hasNext: paged.hasNext,
    created: values(created.nodes, "title"),
    likes: held(relayEnvironment, id, key).nodes[0].getValue("likeCount"),
  };
}

// Reads a board from its middle, first up and then down.
async function bothWays(relayEnvironment, artifact) {
  const key = "BoardPinsBoth_pins";
  const { id } = await makeBoard("Both ways", ["one", "two", "three", "four", "five", "six"]);
  const { node } = await send(
    `query ($id: ID!) { node(id: $id) { ... on Board { pins(first: 2) { pageInfo { endCursor } } } } }`,
    { id },
  );
  const after = node.pins.pageInfo.endCursor;
  const none = { id, first: null, after: null, last: null, before: null };
  const read = async (name, variables) => {
    await query(relayEnvironment, artifact(name), { ...none, ...variables });
    const found = held(relayEnvironment, id, key);
    return { titles: values(found.nodes, "title"), ...found };
  };
  const middle = await read("BoardPinsBothQuery", { first: 2, after });
  const up = await read("BoardPinsBothPaginationQuery", { last: 1, before: middle.start });
  const top = await read("BoardPinsBothPaginationQuery", { last: 5, before: up.start });
  const all = await read("BoardPinsBothPaginationQuery", { first: 5, after: top.cursor });
  return {
    pages: [middle.titles, up.titles, top.titles, all.titles],
    ends: [up.hasPrevious, top.hasPrevious, top.hasNext, all.hasNext],
  };
}

// Likes a pin, which then is the first of the viewer's liked pins in the store, and unlikes it.
async function likes(relayEnvironment, artifact) {
  const key = "BoardPins_likedPins";
  const { pins } = await makeBoard("Relay's likes", ["one"]);
  const { viewer } = await query(relayEnvironment, artifact("BoardPinsLikedQuery"), {});
  const connections = [relay.ConnectionHandler.getConnectionID(viewer.id, key)];
  const input = { pinId: pins[0] };
  const liked = () => values(held(relayEnvironment, viewer.id, key).nodes, "id");
  const before = liked();
  await mutate(relayEnvironment, artifact("BoardPinsLikeEdgeMutation"), { input, connections });
  const during = liked();
  await mutate(relayEnvironment, artifact("BoardPinsUnlikeEdgeMutation"), { input, connections });
  const added = during.filter((id) => !before.includes(id));
  return { onTop: during[0] === pins[0], added: added.length, left: liked().length - before.length };
}

await report(async () => {
  const folder = mkdtempSync(join(tmpdir(), "pinway-relay-"));
  try {
    const compiled = compile(folder);
    const require = createRequire(join(folder, "artifacts", "index.js"));
    const artifact = (name) => require(`./${name}.graphql.js`);
    const relayEnvironment = environment();
    return {
      compiled,
      homeFeed: await homeFeed(relayEnvironment, artifact),
      board: await board(relayEnvironment, artifact),
      bothWays: await bothWays(relayEnvironment, artifact),
      likes: await likes(relayEnvironment, artifact),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
