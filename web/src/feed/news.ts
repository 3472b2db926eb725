// The number of new pins since the feed was opened: requested from time to time, while the page is
// visible.
import { useEffect, useState } from "preact/hooks";
import { client } from "../api/client";
import { graphql } from "../gen";

const NewestPins = graphql(`
  query NewestPins($first: Int!) {
    viewer {
      id
    }
    followingFeed(first: $first) {
      edges {
        node {
          id
          owner {
            id
          }
        }
      }
    }
  }
`);

const FIRST = 50;
const EVERY_SECONDS = 20;

// The ids of the newest pins that the viewer follows. The home feed is not requested, because that
// would use up its new pins.
async function newest(): Promise<string[]> {
  const { data } = await client.query({
    query: NewestPins,
    variables: { first: FIRST },
    fetchPolicy: "no-cache",
  });
  const own = data?.viewer?.id;
  const edges = data?.followingFeed?.edges ?? [];
  return edges.filter(({ node }) => node.owner?.id !== own).map(({ node }) => node.id);
}

export function useNewPins(signedIn: boolean, feed: unknown): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    setCount(0);
    if (!signedIn) return;
    let known: Set<string> | null = null;
    let stopped = false;
    const ask = async () => {
      if (document.hidden) return;
      const ids = await newest().catch(() => null);
      if (stopped || !ids) return;
      if (known === null) known = new Set(ids);
      // Pins are listed newest first: all pins above the first known pin are new.
      const place = ids.findIndex((id) => known?.has(id));
      setCount(place < 0 ? ids.length : place);
    };
    void ask();
    const timer = setInterval(() => void ask(), EVERY_SECONDS * 1000);
    const onShown = () => void ask();
    document.addEventListener("visibilitychange", onShown);
    addEventListener("focus", onShown);
    return () => {
      stopped = true;
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onShown);
      removeEventListener("focus", onShown);
    };
  }, [signedIn, feed]);
  return count;
}
