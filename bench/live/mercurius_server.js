// Serves Mercurius with its JIT and subscriptions over WebSocket, for bench.live.
const Fastify = require('fastify');
const mercurius = require('mercurius');

const schema = `
type Board { id: ID! name: String! }
type Pin { id: ID! title: String! board: Board! }
type BoardChanged { kind: String! orderVersion: String! pin: Pin }
type Query { ok: Boolean! }
type Mutation { save(title: String!): Boolean! }
type Subscription { boardChanged(boardId: ID!): BoardChanged }
`;
const resolvers = {
  Query: { ok: () => true },
  Pin: { board: async () => ({ id: '1', name: 'Live' }) },
  Mutation: {
    save: async (_, { title }, { pubsub }) => {
      const boardChanged = { kind: 'SAVED', orderVersion: '1', pin: { id: '2', title } };
      await pubsub.publish({ topic: 'board', payload: { boardChanged } });
      return true;
    },
  },
  Subscription: {
    boardChanged: {
      subscribe: async (_, __, { pubsub }) => {
        const events = await pubsub.subscribe('board');
        const first = { boardChanged: { kind: 'STARTED', orderVersion: '0', pin: null } };
        return (async function* () {
          yield first;
          yield* events;
        })();
      },
    },
  },
};

const app = Fastify({ logger: false });
app.register(mercurius, { schema, resolvers, subscription: true, jit: 1 });
app.listen({ port: 0, host: '127.0.0.1' }).then(() => {
  const { port } = app.server.address();
  console.log(JSON.stringify({ port, board: '1', pin: '2', token: '' }));
});
