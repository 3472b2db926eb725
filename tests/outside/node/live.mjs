// Subscribes with graphql-ws' and graphql-sse's own clients, Apollo Client, urql and Relay, while pins
// are saved and liked.
import { ApolloClient, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { Client, gql as urqlGql, subscriptionExchange } from "@urql/core";
import { createClient as createSseClient } from "graphql-sse";
import { createClient } from "graphql-ws";
import { Environment, Network, Observable, RecordSource, Store } from "relay-runtime";
import { authorization, CREATE_PIN, ENDPOINT, makeBoard, report, send } from "./support.mjs";

const BOARD = `subscription ($id: ID!) {
  boardChanged(boardId: $id) { kind orderVersion pin { id title } }
}`;
const LIKE = `mutation ($id: ID!) { likePin(input: { pinId: $id }) { pin { likeCount } } }`;
const socketUrl = ENDPOINT.replace(/^http/, "ws");
const sockets = (options = {}) =>
  createClient({ url: socketUrl, connectionParams: authorization(), retryAttempts: 0, ...options });

// Returns a function that waits for the next value of a stream, and one that takes values.
function queue() {
  const values = [];
  const waiting = [];
  return {
    put: (value) => (waiting.length ? waiting.shift()(value) : values.push(value)),
    next: () =>
      values.length ? values.shift() : new Promise((resolve) => waiting.push(resolve)),
  };
}

// Lets a client subscribe to a new board, and saves a pin there. Returns what the client got.
async function watched(name, subscribe) {
  const board = await makeBoard(`${name}'s live board`, []);
  const results = queue();
  const stop = await subscribe(BOARD, { id: board.id }, results.put);
  const started = (await results.next()).boardChanged;
  await send(CREATE_PIN, { input: { boardId: board.id, title: name } });
  const saved = (await results.next()).boardChanged;
  await stop();
  return { started: started.kind, kind: saved.kind, title: saved.pin?.title };
}

async function ofSockets() {
  const client = sockets();
  const seen = await watched("graphql-ws", (query, variables, put) =>
    client.subscribe({ query, variables }, { next: ({ data }) => put(data), error: put, complete() {} }),
  );
  const answer = await new Promise((resolve, reject) =>
    client.subscribe({ query: "{ viewer { username } }" }, { next: resolve, error: reject, complete() {} }),
  );
  await client.dispose();
  return { ...seen, viewer: answer.data.viewer.username };
}

// Returns the code with which a socket with a wrong token is closed.
function ofAWrongToken() {
  return new Promise((resolve) => {
    const client = sockets({
      connectionParams: { authorization: "Bearer no" },
      lazy: false,
      onNonLazyError: () => {},
      on: { closed: ({ code }) => resolve(code) },
    });
    return client;
  });
}

async function ofServerSentEvents() {
  const client = createSseClient({ url: ENDPOINT, headers: authorization(), retryAttempts: 0 });
  const seen = await watched("graphql-sse", (query, variables, put) =>
    client.subscribe({ query, variables }, { next: ({ data }) => put(data), error: put, complete() {} }),
  );
  const values = [];
  for await (const { data } of client.iterate({ query: "{ viewer { username } }" })) values.push(data);
  client.dispose();
  return { ...seen, viewer: values[0].viewer.username };
}

async function ofApollo() {
  const client = sockets();
  const apollo = new ApolloClient({ link: new GraphQLWsLink(client), cache: new InMemoryCache() });
  const seen = await watched("apollo", (query, variables, put) => {
    const shown = apollo
      .subscribe({ query: gql(query), variables })
      .subscribe({ next: ({ data }) => put(data), error: put });
    return () => shown.unsubscribe();
  });
  await client.dispose();
  return seen;
}

async function ofUrql() {
  const client = sockets();
  const urql = new Client({
    url: ENDPOINT,
    exchanges: [
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({ unsubscribe: client.subscribe({ query, variables }, sink) }),
        }),
      }),
    ],
  });
  const seen = await watched("urql", (query, variables, put) => {
    const { unsubscribe } = urql
      .subscription(urqlGql(query), variables)
      .subscribe(({ data, error }) => put(error ?? data));
    return unsubscribe;
  });
  await client.dispose();
  return seen;
}

async function ofRelay() {
  const client = sockets();
  const subscribe = ({ text }, variables) =>
    Observable.create((sink) => client.subscribe({ query: text, variables }, sink));
  const network = Network.create(subscribe, subscribe);
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const seen = await watched("relay", (query, variables, put) => {
    const shown = environment
      .getNetwork()
      .execute({ text: query, operationKind: "subscription", name: "Live" }, variables, {})
      .subscribe({ next: ({ data }) => put(data), error: put });
    return () => shown.unsubscribe();
  });
  await client.dispose();
  return seen;
}

async function ofAPin() {
  const client = sockets();
  const { pins } = await makeBoard("liked live", ["one"]);
  const results = queue();
  const query = `subscription ($id: ID!) { pinChanged(pinId: $id) { kind pin { likeCount } } }`;
  client.subscribe({ query, variables: { id: pins[0] } }, { next: results.put, error() {}, complete() {} });
  await results.next();
  await send(LIKE, { id: pins[0] });
  const { data } = await results.next();
  await client.dispose();
  return { kind: data.pinChanged.kind, likes: data.pinChanged.pin.likeCount };
}

await report(async () => ({
  sockets: await ofSockets(),
  wrongToken: await ofAWrongToken(),
  serverSent: await ofServerSentEvents(),
  apollo: await ofApollo(),
  urql: await ofUrql(),
  relay: await ofRelay(),
  pin: await ofAPin(),
}));
