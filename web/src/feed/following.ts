// The following feed: new pins of the people and boards that the viewer follows, newest first.
import { client } from "../api/client";
import { ratioOf } from "../api/images";
import { graphql } from "../gen";
import { Feed, type Page, type Source } from "./feed";

const FollowingFeed = graphql(`
  query FollowingFeed($first: Int!, $after: String, $seen: String) {
    followingFeed(first: $first, after: $after, seen: $seen) {
      health {
        store
        mayBeStale
        staleSince
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      edges {
        node {
          id
          ...PinCard
        }
      }
    }
  }
`);

const FIRST = 25;

class FollowingSource implements Source {
  #after: string | null = null;

  begin(seen: string | null): Promise<Page> {
    return this.#ask(null, seen);
  }

  next(): Promise<Page> {
    return this.#ask(this.#after, null);
  }

  async #ask(after: string | null, seen: string | null): Promise<Page> {
    const { data, error } = await client.query({
      query: FollowingFeed,
      variables: { first: FIRST, after, seen },
      fetchPolicy: "network-only",
    });
    if (!data?.followingFeed) throw error ?? new Error("The following feed did not answer.");
    const { edges, pageInfo, health } = data.followingFeed;
    this.#after = pageInfo.endCursor;
    return {
      entries: edges.map(({ node }) => ({ id: node.id, ratio: ratioOf(node.image) })),
      more: pageInfo.hasNextPage,
      health: {
        mayBeStale: health.mayBeStale,
        staleSince: health.staleSince,
        stores: [health.store],
      },
      partial: error !== undefined,
    };
  }
}

export const followingFeed = new Feed(new FollowingSource());
