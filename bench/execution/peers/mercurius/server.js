// Mercurius with its JIT and DataLoader, over the data in BENCH_DATA (see bench/execution/data.py).
const fs = require('fs');
const Fastify = require('fastify');
const mercurius = require('mercurius');
const DataLoader = require('dataloader');

const data = JSON.parse(fs.readFileSync(process.env.BENCH_DATA));
const byId = (rows) => new Map(rows.map((row) => [row.id, row]));
const objects = { users: byId(data.users), boards: byId(data.boards), pins: byId(data.pins) };
const feeds = data.feeds.map((feed) => feed.map((place) => `p${place}`));

// A turn of the loop, as a hit in a cache takes.
const turn = () => new Promise((resolve) => setImmediate(resolve));
const batches = {};
for (const [name, rows] of Object.entries(objects)) {
  batches[name] = async (keys) => {
    await turn();
    return keys.map((key) => rows.get(key) ?? null);
  };
}

const schema = `
type User { id: ID! username: String! }
type Board { id: ID! name: String! owner: User! }
type Pin {
  id: ID! title: String description: String link: String imageUrl: String createdAt: String!
  board: Board! owner: User!
}
type PageInfo {
  hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
}
type PinEdge { cursor: String! node: Pin! }
type PinConnection { edges: [PinEdge!]! pageInfo: PageInfo! }
type Query { homeFeed(first: Int!, after: String): PinConnection! }
`;

function homeFeed(_, { first, after }, context) {
  const feed = feeds[context.viewer];
  const start = after ? parseInt(after.slice(1)) + 1 : 0;
  const edges = feed
    .slice(start, start + first)
    .map((id, place) => ({ cursor: `c${start + place}`, pinId: id }));
  return {
    edges,
    pageInfo: {
      hasNextPage: start + first < feed.length,
      hasPreviousPage: start > 0,
      startCursor: edges.length ? edges[0].cursor : null,
      endCursor: edges.length ? edges[edges.length - 1].cursor : null,
    },
  };
}

const resolvers = {
  Query: { homeFeed },
  PinEdge: { node: (edge, _, context) => context.pins.load(edge.pinId) },
  Pin: {
    board: (pin, _, context) => context.boards.load(pin.boardId),
    owner: (pin, _, context) => context.users.load(pin.ownerId),
  },
  Board: { owner: (board, _, context) => context.users.load(board.ownerId) },
};

const app = Fastify();
app.register(mercurius, {
  schema,
  resolvers,
  jit: 1,
  context: (request) => ({
    viewer: Number(request.headers.authorization.slice(7)),
    users: new DataLoader(batches.users),
    boards: new DataLoader(batches.boards),
    pins: new DataLoader(batches.pins),
  }),
});
app.listen({ port: Number(process.env.BENCH_PORT), host: '127.0.0.1' });
