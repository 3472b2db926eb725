// The home feed. A visit uses up new pins, and its pages are always the same, so a reload requests
// the visit that it showed. At the end of a visit the next visit begins: the feed is endless while
// there are new pins.
import { client } from "../api/client";
import { FIRST, VISIT } from "../api/early";
import { ratioOf } from "../api/images";
import { session } from "../api/viewer";
import { graphql } from "../gen";
import type { HomeFeedQuery } from "../gen/graphql";
import { Feed, type Page, type Source } from "./feed";
import { REASONS } from "./reasons";

const HomeFeed = graphql(`
  query HomeFeed($first: Int!, $after: String, $visit: ID, $seen: String) {
    homeFeed(first: $first, after: $after, visitId: $visit, seen: $seen) {
      visitId
      health {
        pools
        materialized
        mayBeStale
        staleSince
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      edges {
        reason
        node {
          id
          ...PinCard
        }
      }
    }
  }
`);


class HomeSource implements Source {
  #visit: string | null = null;
  #after: string | null = null;
  #visitEnded = false;
  // The feed has begun another visit: this feed has already shown the pins of earlier visits.
  #isLater = false;

  begin(seen: string | null): Promise<Page> {
    // Only a reload continues the previous visit: a user who requests a new feed gets new pins.
    const reloaded = this.#visit === null && seen === null;
    this.#isLater = false;
    return this.#ask(reloaded ? sessionStorage.getItem(VISIT) : null, null, seen);
  }

  async next(): Promise<Page> {
    if (this.#visitEnded) return this.#nextVisit();
    const page = await this.#ask(this.#visit, this.#after, null);
    if (!this.#isLater) return page;
    const fresh = this.#freshOf(page);
    return fresh.entries.length ? fresh : this.#nextVisit();
  }

  async #nextVisit(): Promise<Page> {
    this.#isLater = true;
    const page = this.#freshOf(await this.#ask(null, null, null));
    return { ...page, more: page.entries.length > 0 };
  }

  // A visit's new pins come first: after them there is nothing new to request.
  #freshOf(page: Page): Page {
    const entries = page.entries.filter((entry) => entry.reason !== REASONS.SHOWN_BEFORE);
    this.#visitEnded ||= entries.length < page.entries.length;
    return { ...page, entries };
  }

  async #ask(visit: string | null, after: string | null, seen: string | null): Promise<Page> {
    const { data, error } = await client.query({
      query: HomeFeed,
      variables: { first: FIRST, after, visit, seen },
      fetchPolicy: "network-only",
    });
    if (!data?.homeFeed) throw error ?? new Error("The home feed did not answer.");
    const { visitId, pageInfo, health } = data.homeFeed as Connection;
    this.#visit = visitId;
    this.#after = pageInfo.endCursor;
    this.#visitEnded = !pageInfo.hasNextPage;
    sessionStorage.setItem(VISIT, visitId);
    return {
      entries: entriesOf(data.homeFeed as Connection),
      more: true, // a next visit may have more
      health: {
        mayBeStale: health.mayBeStale,
        staleSince: health.staleSince,
        // Without a viewer, no feed was shown before: there is nothing to read.
        stores: session ? [health.pools, health.materialized] : [health.pools],
      },
      partial: error !== undefined,
    };
  }
}

type Connection = NonNullable<HomeFeedQuery["homeFeed"]>;

function entriesOf({ edges }: Connection) {
  return edges.map(({ node, reason }) => ({
    id: node.id,
    ratio: ratioOf(node.image),
    owner: node.owner?.id,
    reason: REASONS[reason],
  }));
}

export const homeFeed = new Feed(new HomeSource(), true);
