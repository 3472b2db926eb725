// Composes Pinway with a second subgraph, which adds reviews and ratings, and queries both through
// Apollo's gateway. Prints the answers, and the requests that each subgraph got.
import { createServer } from "node:http";
import { ApolloGateway, IntrospectAndCompose, RemoteGraphQLDataSource } from "@apollo/gateway";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { graphql, parse } from "graphql";
import { authorization, ENDPOINT, makeBoard, report, send } from "./support.mjs";

const typeDefs = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
  type Pin @key(fields: "id") { id: ID! rating: Int }
  type User @key(fields: "id") { id: ID! reviewCount: Int! }
  type Board @key(fields: "id") { id: ID! reviewed: Boolean! }
  type Section @key(fields: "id") { id: ID! featured: Boolean! }
  type Review { text: String! pin: Pin section: Section board: Board author: User }
  type Query { reviews: [Review!]! }
`);

// Serves the second subgraph. Returns its address.
async function serveReviews(reviews) {
  const rated = new Map(reviews.map(({ pin }, place) => [pin.id, place]));
  const resolvers = {
    Query: { reviews: () => reviews },
    Pin: { rating: ({ id }) => rated.get(id) ?? null },
    User: { reviewCount: ({ id }) => reviews.filter(({ author }) => author.id === id).length },
    Board: { reviewed: () => true },
    Section: { featured: () => true },
  };
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString());
    const answer = await graphql({ schema, source: query, variableValues: variables });
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  server.keepAliveTimeout = 0; // on a busy machine, more than Node's 5 s pass between two requests
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}/graphql`;
}

async function startGateway(reviewsUrl) {
  const requests = { pinway: [], reviews: [] };
  class Counting extends RemoteGraphQLDataSource {
    constructor(name, url) {
      super({ url });
      this.name = name;
    }
    willSendRequest({ request, context }) {
      for (const [header, value] of Object.entries(context?.headers ?? {})) request.http?.headers.set(header, value);
      requests[this.name].push(request.variables?.representations ?? null);
    }
  }
  const gateway = new ApolloGateway({
    supergraphSdl: new IntrospectAndCompose({
      subgraphs: [
        { name: "pinway", url: ENDPOINT },
        { name: "reviews", url: reviewsUrl },
      ],
    }),
    buildService: ({ name, url }) => new Counting(name, url),
    logger: { debug() {}, info() {}, warn() {}, error: console.error },
  });
  const { executor } = await gateway.load();
  // Runs a query, and returns its answer and the requests to each subgraph.
  const ask = async (query, headers = authorization()) => {
    for (const seen of Object.values(requests)) seen.length = 0;
    const answer = await executor({
      document: parse(query),
      request: { query, variables: {} },
      queryHash: query,
      context: { headers },
      metrics: {},
      overallCachePolicy: { restrict() {} },
    });
    return { data: answer.data, errors: answer.errors, requests: structuredClone(requests) };
  };
  return { ask, stop: () => gateway.stop() };
}

async function makeSection(boardId, name) {
  const { createSection } = await send(
    `mutation ($input: CreateSectionInput!) { createSection(input: $input) { section { id } } }`,
    { input: { boardId, name } },
  );
  return createSection.section.id;
}

await report(async () => {
  const open = await makeBoard("Open", ["one", "two", "three"]);
  const created = await send(
    `mutation { createBoard(input: {name: "Plans", secret: true}) { board { id } } }`,
  );
  const secret = created.createBoard.board.id;
  const { createPin } = await send(
    `mutation ($id: ID!) { createPin(input: {boardId: $id, title: "party"}) { pin { id } } }`,
    { id: secret },
  );
  const openSection = await makeSection(open.id, "Starters");
  const secretSection = await makeSection(secret, "Guests");
  const { viewer } = await send("{ viewer { id } }");
  const pins = [...open.pins, createPin.pin.id, "1"];
  const author = { __typename: "User", id: viewer.id };
  const reviews = pins.map((id, place) => ({
    text: `review ${place}`,
    pin: { __typename: "Pin", id },
    section: { __typename: "Section", id: id === createPin.pin.id ? secretSection : openSection },
    board: { __typename: "Board", id: id === createPin.pin.id ? secret : open.id },
    author,
  }));
  const gateway = await startGateway(await serveReviews(reviews));
  const REVIEWS = "{ reviews { text pin { title rating } author { username reviewCount } section { name featured board { name } } board { name } } }";
  const BOARD = `{ board(id: "${open.id}") { name reviewed sections { edges { node { name featured } } } pins { edges { node { title rating } } } } }`;
  const seen = {
    own: await gateway.ask(REVIEWS),
    stranger: await gateway.ask(REVIEWS, {}),
    board: await gateway.ask(BOARD),
  };
  await gateway.stop();
  return seen;
});
