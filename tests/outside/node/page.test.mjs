// The parts of the GraphiQL page that need no browser.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { loadBoot, NOBODY, signedFetch } from "../../../graphiql/boot.js";
import { currentOperation } from "../../../graphiql/operation.js";
import { imageAt } from "../../../graphiql/preview.js";
import { prepareTabs } from "../../../graphiql/tabs.js";

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

class Storage extends Map {
  getItem = (key) => this.get(key) ?? null;
  setItem = (key, value) => this.set(key, value);
}

const sample = (title, id) => ({
  title,
  query: `# One line.\nquery ${title}($id: ID!) { node(id: $id) { id } }`,
  variables: `{"id": "${id}"}`,
});
const STATE = "pinway:graphiql:tabState";

test("a server that hands out no token leaves the page signed out", async () => {
  const refused = await loadBoot(async () => new Response("no", { status: 404 }));
  const unreachable = await loadBoot(async () => {
    throw new TypeError("network");
  });
  const notJson = await loadBoot(async () => new Response("<p>"));
  assert.deepEqual([refused, unreachable, notJson], [NOBODY, NOBODY, NOBODY]);
});

test("a request carries the token, and a header set by hand wins", async () => {
  const sent = [];
  globalThis.fetch = async (_url, { headers }) => {
    sent.push(headers.get("authorization"));
    return new Response("{}");
  };
  const send = signedFetch({ token: "mine" });
  await send("/graphql", { headers: { accept: "application/json" } });
  await send("/graphql", { headers: { Authorization: "Bearer other" } });
  assert.deepEqual(sent, ["Bearer mine", "Bearer other"]);
});

test("a refused token is replaced once, and the request sent again", async () => {
  const sent = [];
  globalThis.fetch = async (url, init) => {
    if (url === "/graphiql/boot.json") return Response.json({ token: "new" });
    const header = init.headers.get("authorization");
    sent.push(header);
    return new Response("{}", { status: header === "Bearer new" ? 200 : 401 });
  };
  const response = await signedFetch({ token: "old" })("/graphql", {});
  assert.equal(response.status, 200);
  assert.deepEqual(sent, ["Bearer old", "Bearer new"]);
});

test("the operation sent is one of the document's", () => {
  const query = "# query Home\nquery Board { a }";
  assert.equal(currentOperation({ query, operationName: "Home" }).operationName, "Board");
  assert.equal(currentOperation({ query, operationName: "Board" }).operationName, "Board");
  const two = "query A { a }\nmutation B { b }";
  assert.equal(currentOperation({ query: two, operationName: "B" }).operationName, "B");
  assert.ok(!("operationName" in currentOperation({ query: two, operationName: "C" })));
  assert.ok(!("operationName" in currentOperation({ query: "{ a }", operationName: null })));
});

test("only pictures of this server are previewed, from the origin of the page", () => {
  const line = '  "url": "http://127.0.0.1:8000/images/a.svg", "link": "http://other:8000/b.png"';
  const here = new URL("http://127.0.0.1:8000/graphql");
  const inside = line.indexOf("images") + 1;
  const picture = "http://127.0.0.1:8000/images/a.svg";
  assert.equal(imageAt(line, inside, here).url, picture);
  assert.equal(
    imageAt(line, inside, new URL("http://localhost:8000/graphql")).url,
    "http://localhost:8000/images/a.svg",
  );
  assert.equal(imageAt(line, inside, new URL("http://127.0.0.1:9000/graphql")), null);
  assert.equal(imageAt(line, inside, new URL("http://example.org:8000/graphql")), null);
  assert.equal(imageAt(line, 1, here), null);
  assert.equal(imageAt(line, line.indexOf("other") + 1, here), null);
  assert.equal(imageAt('"http://127.0.0.1:8000/boards/1"', 5, here), null);
});

test("a first visit opens the samples, the first one on top", () => {
  const storage = new Storage();
  prepareTabs(storage, [sample("A", 1), sample("B", 2)]);
  const { tabs, activeTabIndex } = JSON.parse(storage.getItem(STATE));
  assert.deepEqual(tabs.map((tab) => tab.title), ["A", "B"]);
  assert.equal(activeTabIndex, 0);
  assert.equal(storage.getItem("pinway:graphiql:variables"), '{"id": "1"}');
});

test("what the user wrote stays; an untouched sample takes this visit's ids", () => {
  const storage = new Storage();
  const state = prepareTabs(storage, [sample("A", 1), sample("B", 2)]);
  state.tabs[0].query = "{ mine }";
  storage.setItem(STATE, JSON.stringify({ ...state, activeTabIndex: 1 }));
  prepareTabs(storage, [sample("A", 10), sample("B", 20)]);
  const { tabs } = JSON.parse(storage.getItem(STATE));
  assert.equal(tabs[0].query, "{ mine }");
  assert.equal(tabs[0].variables, '{"id": "1"}');
  assert.equal(tabs[1].variables, '{"id": "20"}');
  assert.equal(storage.getItem("pinway:graphiql:variables"), '{"id": "20"}');
});

for (const broken of ["", "nonsense", "null", "[]", '{"tabs": []}', '{"tabs": [3]}', '{"tabs": {}}']) {
  test(`a stored state that can't be used is replaced: ${broken}`, () => {
    const storage = new Storage();
    storage.setItem(STATE, broken);
    storage.setItem("pinway:samples", broken);
    prepareTabs(storage, [sample("A", 1)]);
    assert.equal(JSON.parse(storage.getItem(STATE)).tabs[0].title, "A");
  });
}
