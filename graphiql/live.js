// Subscriptions, over a WebSocket. Each has a socket of its own, which ends with it.
import { createClient } from "graphql-ws";
import { parse } from "graphql";
import { loadBoot } from "./boot.js";

function isSubscription({ query, operationName }) {
  let document;
  try {
    document = parse(query);
  } catch {
    return false; // the gateway says what is wrong with it
  }
  const operations = document.definitions.filter(({ kind }) => kind === "OperationDefinition");
  const chosen = operations.find(({ name }) => name?.value === operationName) ?? operations[0];
  return chosen?.operation === "subscription";
}

// The authorization in the Headers pane, else that of the viewer. The token is read anew: a page may be
// open for longer than a token is valid.
async function authorization(headers = {}) {
  const given = Object.entries(headers).find(([name]) => name.toLowerCase() === "authorization")?.[1];
  if (given) return given;
  const { token } = await loadBoot();
  return token ? `Bearer ${token}` : undefined;
}

async function* events(url, request, headers) {
  const client = createClient({
    url,
    retryAttempts: 0, // a subscription that ends is shown as ended
    connectionParams: async () => ({ authorization: await authorization(headers) }),
  });
  try {
    yield* client.iterate(request);
  } catch (problem) {
    throw problem instanceof CloseEvent
      ? new Error(`The gateway closed the socket: ${problem.reason || "it gave no reason"} (${problem.code})`)
      : problem;
  } finally {
    client.dispose();
  }
}

// A fetcher that runs subscriptions, and gives all other operations to `send`.
export function withSubscriptions(send, endpoint) {
  const url = new URL(endpoint, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return (request, options) =>
    isSubscription(request) ? events(url.href, request, options?.headers) : send(request, options);
}
