// Mercurius with its JIT and DataLoader over the real servers: a page of the home feed makes the
// store calls that the gateway makes. BENCH_STORES is a file of addresses and accounts.
const fs = require('fs');
const crypto = require('crypto');
const Fastify = require('fastify');
const mercurius = require('mercurius');
const DataLoader = require('dataloader');
const Memcached = require('memcached');
const mysql = require('mysql2/promise');
const openHbase = require('./hbase');

const stores = JSON.parse(fs.readFileSync(process.env.BENCH_STORES));
const TABLE = Buffer.from('pinway_materialized');
const COLUMN = 'f:'.length;
const RECENT = 3;

const hbase = openHbase(stores.hbase.host, stores.hbase.port);
const memcached = new Memcached(stores.memcached, { poolSize: 16 });
const pools = stores.shards.map(({ range, host, port }) => ({
  range,
  pool: mysql.createPool({
    host,
    port,
    user: stores.user,
    password: stores.password,
    connectionLimit: 16,
    multipleStatements: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  }),
}));

// An id's shard; numbers of 64 bits are strings here.
const shardOf = (id) => Number(BigInt(id) >> 46n);

// The visits that the viewer's shard tells: the newest, all unsaved ones and the named one; with
// the lease of the server, in the same packet.
async function visits(viewer, named) {
  const shard = shardOf(viewer);
  const { pool } = pools.find(({ range }) => range[0] <= shard && shard <= range[1]);
  const columns = 'user_id, generation, visit, chunk, saved, created';
  const from = `SELECT ${columns} FROM db${String(shard).padStart(5, '0')}.visits WHERE user_id = ?`;
  const [answers] = await pool.query(
    `(${from} ORDER BY generation DESC LIMIT ${RECENT}) UNION ALL (${from} AND saved = 0) ` +
      `UNION ALL (${from} AND visit = ?); SELECT epoch, TIMESTAMPDIFF(MICROSECOND, lease_ts, ` +
      'UTC_TIMESTAMP(6)) FROM pinway.server WHERE id = 1',
    [viewer, viewer, viewer, named],
  );
  return answers[0];
}

function userRow(id) {
  const row = Buffer.alloc(8);
  row.writeBigUInt64BE(BigInt(id));
  return row;
}

// Numbers of more than 15 digits, which JSON.parse would round, become strings.
const parse = (text) => JSON.parse(text.replace(/:(\d{16,})/g, ':"$1"'));

// Objects of all kinds by id: one memcached call for all ids that are wanted at a time.
function objects() {
  return new DataLoader(
    (ids) =>
      new Promise((resolve, reject) => {
        memcached.getMulti(ids.map((id) => `pinway:${id}`), (error, found) => {
          if (error) return reject(error);
          return resolve(
            ids.map((id) => {
              const text = found[`pinway:${id}`];
              if (text === undefined) return new Error(`${id} is not cached`);
              const object = parse(text);
              object.id = id;
              return object.active === false ? null : object;
            }),
          );
        });
      }),
  );
}

const schema = `
type User { id: ID! username: String! }
type Board { id: ID! name: String! owner: User! }
type Image { url: String! width: Int height: Int }
type Pin {
  id: ID! title: String description: String link: String image: Image createdAt: String!
  board: Board! owner: User!
}
type PageInfo {
  hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
}
type PinEdge { cursor: String! node: Pin! }
type Feed { visitId: ID! edges: [PinEdge!]! pageInfo: PageInfo! }
type Query { homeFeed(first: Int!, visitId: ID): Feed! }
`;

async function homeFeed(_, { first, visitId: visit }, { viewer, objects: load }) {
  const [known, cells] = await Promise.all([
    visits(viewer, visit),
    hbase.row(TABLE, userRow(viewer), first + 1),
  ]);
  const named = known.find((row) => row.visit.toString() === visit);
  const generation = BigInt(named.generation);
  const shown = [];
  for (const { name, value } of cells) {
    const of = 0xffffffffffffffffn - name.readBigUInt64BE(COLUMN);
    if (of <= generation) {
      shown.push({ id: value.readBigUInt64BE(0).toString(), of, at: name.readUInt16BE(COLUMN + 8) });
    }
  }
  const pins = await load.loadMany(shown.map(({ id }) => id));
  const boards = await load.loadMany(pins.map((pin) => pin && pin.board_id));
  const edges = [];
  shown.forEach(({ of, at }, place) => {
    const [pin, board] = [pins[place], boards[place]];
    if (!pin || !board || edges.length > first) return;
    if (board.secret && board.owner_id !== viewer) return;
    const place64 = Buffer.alloc(18);
    place64.writeBigUInt64BE(generation, 0);
    place64.writeBigUInt64BE(of, 8);
    place64.writeUInt16BE(at, 16);
    edges.push({ cursor: Buffer.concat([place64, Buffer.from(visit)]).toString('base64url'), node: pin });
  });
  const hasNextPage = edges.length > first;
  if (hasNextPage) edges.pop();
  return {
    visitId: visit,
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage: false,
      startCursor: edges.length ? edges[0].cursor : null,
      endCursor: edges.length ? edges[edges.length - 1].cursor : null,
    },
  };
}

// The time as Python's isoformat writes it: microseconds, unless there are none.
const isoformat = (ms) =>
  new Date(ms).toISOString().replace(ms % 1000 ? 'Z' : '.000Z', ms % 1000 ? '000+00:00' : '+00:00');

const absolute = (url) => (url.startsWith('/') ? stores.url + url : url);

const resolvers = {
  Query: { homeFeed },
  Pin: {
    title: (pin) => pin.title ?? '',
    description: (pin) => pin.description ?? '',
    createdAt: (pin) => isoformat(pin.created),
    board: (pin, _, context) => context.objects.load(pin.board_id),
    owner: (pin, _, context) => context.objects.load(pin.owner_id),
  },
  Image: { url: (image) => absolute(image.url) },
  Board: { owner: (board, _, context) => context.objects.load(board.owner_id) },
};

// The token's signature is checked, and the viewers of the last tokens are kept, as the gateway does.
const known = new Map();
function viewerOf(authorization) {
  const token = authorization.slice('Bearer '.length);
  if (!known.has(token)) {
    const [header, payload, signature] = token.split('.');
    const wanted = crypto.createHmac('sha256', stores.secret).update(`${header}.${payload}`);
    if (wanted.digest('base64url') !== signature) throw new Error('invalid token');
    known.set(token, JSON.parse(Buffer.from(payload, 'base64url')).sub);
  }
  return known.get(token);
}

const app = Fastify();
app.register(mercurius, {
  schema,
  resolvers,
  jit: 1,
  context: (request) => ({
    viewer: viewerOf(request.headers.authorization),
    objects: objects(),
  }),
});
app.listen({ port: Number(process.env.BENCH_PORT), host: '127.0.0.1' });
