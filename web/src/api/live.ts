// The socket of subscriptions. It is opened with the first subscription, and closed a while after the
// last one ended. A socket that breaks is opened again, with the subscriptions on it.
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { createClient } from "graphql-ws";
import { currentSession } from "./session";

const REFUSED = 4403; // the token is wrong or has expired: the next request says so
const MOST_WAIT = 60_000; // milliseconds between two attempts

const reconnected = new Set<() => void>();

// Calls `listener` when a broken socket is open again. Returns a function that ends this.
export function onReconnected(listener: () => void): () => void {
  reconnected.add(listener);
  return () => void reconnected.delete(listener);
}

const url = new URL("/graphql", location.href);
url.protocol = url.protocol.replace("http", "ws");

export const liveLink = new GraphQLWsLink(
  createClient({
    url: url.href,
    connectionParams: () => {
      const session = currentSession();
      return session ? { authorization: `Bearer ${session.token}` } : {};
    },
    lazyCloseTimeout: 5_000,
    retryAttempts: Infinity,
    retryWait: (tries) =>
      new Promise((resolve) =>
        setTimeout(resolve, Math.min(1_000 * 2 ** tries, MOST_WAIT) * (0.5 + Math.random())),
      ),
    shouldRetry: (problem) => (problem as CloseEvent | undefined)?.code !== REFUSED,
    on: {
      connected: (_socket, _payload, wasRetry) => {
        if (wasRetry) for (const listener of reconnected) listener();
      },
    },
  }),
);
