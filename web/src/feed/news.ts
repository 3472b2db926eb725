// The number of new pins since the feed was opened, which the gateway tells as they come.
import type { ApolloClient } from "@apollo/client";
import { useEffect, useState } from "preact/hooks";
import { client } from "../api/client";
import { onReconnected } from "../api/live";
import { graphql } from "../gen";
import type { NewPinsSubscription } from "../gen/graphql";

// The home feed is not requested, because that would use up its new pins.
const NewPins = graphql(`
  subscription NewPins {
    homeFeedUpdated {
      waiting
      more
    }
  }
`);

export interface News {
  count: number;
  // Whether there may be more new pins than `count`.
  more: boolean;
}

const AGAIN = 30_000; // milliseconds until a stream that the gateway ended begins again
const NONE: News = { count: 0, more: false };

export function useNewPins(signedIn: boolean, feed: unknown): News {
  const [news, setNews] = useState(NONE);
  useEffect(() => {
    setNews(NONE);
    if (!signedIn) return;
    let latest = NONE;
    let before = 0; // pins that were told by streams that ended: each counts from its beginning
    let timer = 0;
    const keep = () => {
      before = latest.count;
    };
    const begin = () => client.subscribe({ query: NewPins }).subscribe({ next, complete: again, error: again });
    const next = ({ data }: ApolloClient.SubscribeResult<NewPinsSubscription>) => {
      if (!data?.homeFeedUpdated) return;
      const { waiting, more } = data.homeFeedUpdated;
      latest = { count: before + waiting, more };
      setNews(latest);
    };
    const again = () => {
      keep();
      timer = window.setTimeout(() => {
        events = begin();
      }, AGAIN);
    };
    const forget = onReconnected(keep);
    let events = begin();
    return () => {
      forget();
      clearTimeout(timer);
      events.unsubscribe();
    };
  }, [signedIn, feed]);
  return news;
}
