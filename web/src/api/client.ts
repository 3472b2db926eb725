// The GraphQL client: its authorization, its transport, and its cache.
import { ApolloClient, ApolloLink, HttpLink } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { getMainDefinition } from "@apollo/client/utilities";
import { newCache } from "./cache";
import { takeEarly } from "./early";
import { liveLink } from "./live";
import { sendAgain } from "./lost";
import { currentSession, endSession } from "./session";

declare const __HASHES__: Record<string, string>;

// Operations are sent as hashes of trusted documents: vite.config.ts inserts the hashes, and writes the
// manifest for the gateway. A gateway of another version doesn't know a hash; it then gets the document.
const persisted = new PersistedQueryLink({
  generateHash: (document) => {
    const definition = getMainDefinition(document);
    return __HASHES__[(definition.kind === "OperationDefinition" && definition.name?.value) || ""]!;
  },
});

// Operations are sent by POST as JSON, which pages of other sites can't send without a permission.
const http = new HttpLink({
  uri: "/graphql",
  fetch: async (input, init) => {
    const session = currentSession();
    const headers = new Headers(init?.headers);
    headers.set("accept", "application/graphql-response+json, application/json;q=0.9");
    if (session) headers.set("authorization", `Bearer ${session.token}`);
    const response = await (takeEarly(init?.body) ?? fetch(input, { ...init, headers }));
    // The token has expired, or the gateway's secret has changed.
    if (response.status === 401 && session) endSession();
    return response;
  },
});

// A partial answer is better than none: a card whose server is down is shown as missing.
declare module "@apollo/client" {
  namespace ApolloClient {
    namespace DeclareDefaultOptions {
      interface WatchQuery {
        errorPolicy: "all";
      }
      interface Query {
        errorPolicy: "all";
      }
    }
  }
}

export const client = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === "subscription",
    liveLink,
    ApolloLink.from([sendAgain, persisted, http]),
  ),
  cache: newCache(),
  defaultOptions: {
    watchQuery: { errorPolicy: "all", fetchPolicy: "cache-and-network", nextFetchPolicy: "cache-first" },
    query: { errorPolicy: "all" },
  },
});
