// The normalised cache: one copy of each user, board and pin, by its id.
import { InMemoryCache, type Reference } from "@apollo/client/cache";
import type { FieldFunctionOptions, FieldPolicy } from "@apollo/client/cache";

export interface StoredEdge {
  __typename: string;
  cursor?: string;
  node: Reference | null;
}

export interface StoredConnection {
  __typename: string;
  edges: StoredEdge[];
  pageInfo: { __typename: string; hasNextPage: boolean; endCursor: string | null };
}

// Pages of one list are stored as one list. A page that was requested without a cursor replaces the
// list; a page that continues at the list's end is added.
const pages: FieldPolicy<StoredConnection> = {
  keyArgs: false,
  merge(known, page, { args }: FieldFunctionOptions) {
    if (!known || !args?.["after"]) return page;
    const there = new Set(known.edges.map((edge) => edge.node?.__ref));
    const fresh = page.edges.filter((edge) => !edge.node || !there.has(edge.node.__ref));
    return { ...page, edges: [...known.edges, ...fresh] };
  },
};

export function newCache(): InMemoryCache {
  return new InMemoryCache({
    // An id identifies its object without the type; every object is a Node.
    possibleTypes: {
      Node: ["User", "Board", "Pin", "Comment", "Interest", "Section"],
      SearchNode: ["User", "Board", "Pin"],
      NotificationSubject: ["Pin", "Board", "Comment"],
    },
    typePolicies: {
      Query: {
        fields: {
          viewer: { merge: true },
          notifications: pages,
          search: { ...pages, keyArgs: ["text", "types"] },
          // A feed's list belongs to its visit (src/feed/feed.ts); the cache only keeps its pins.
          homeFeed: { keyArgs: false, merge: false },
          followingFeed: { keyArgs: false, merge: false },
          // If a feed has read the pin already, its page shows it at once. Null means that it doesn't exist.
          pin: {
            read: (known, { args, toReference }) =>
              known === undefined ? toReference({ __typename: "Pin", id: args?.["id"] }) : known,
          },
        },
      },
      Board: { fields: { pins: pages, sections: pages } },
      Section: { fields: { pins: pages } },
      User: { fields: { boards: pages, pins: pages, likedPins: pages } },
      Pin: { fields: { comments: pages } },
      Image: { keyFields: false },
    },
  });
}
