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

// Pages of one list are stored as one list. A page that was asked for without a cursor begins the
// list anew; one that goes on where the list ends is added.
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
    // An id names its object whatever its type; every object is a Node.
    possibleTypes: { Node: ["User", "Board", "Pin", "Comment", "Interest"] },
    typePolicies: {
      Query: {
        fields: {
          viewer: { merge: true },
          // A feed's list belongs to its visit (src/feed/feed.ts); only its pins are kept here.
          homeFeed: { keyArgs: false, merge: false },
          followingFeed: { keyArgs: false, merge: false },
          // A feed has read the pin already: its page shows that at once. Null means there is no such pin.
          pin: {
            read: (known, { args, toReference }) =>
              known === undefined ? toReference({ __typename: "Pin", id: args?.["id"] }) : known,
          },
        },
      },
      Board: { fields: { pins: pages } },
      User: { fields: { boards: pages, pins: pages, likedPins: pages } },
      Pin: { fields: { comments: pages } },
      Image: { keyFields: false },
    },
  });
}
