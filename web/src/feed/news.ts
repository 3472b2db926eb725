// The number of new pins since the feed was opened, which the gateway tells as they come.
import { useEffect, useState } from "preact/hooks";
import { client } from "../api/client";
import { onReconnected } from "../api/live";
import { graphql } from "../gen";

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

const NONE: News = { count: 0, more: false };

export function useNewPins(signedIn: boolean, feed: unknown): News {
  const [news, setNews] = useState(NONE);
  useEffect(() => {
    setNews(NONE);
    if (!signedIn) return;
    let latest = NONE;
    let before = 0; // pins that were told on connections that broke: each counts from its beginning
    const forget = onReconnected(() => {
      before = latest.count;
    });
    const events = client.subscribe({ query: NewPins }).subscribe(({ data }) => {
      if (!data?.homeFeedUpdated) return;
      const { waiting, more } = data.homeFeedUpdated;
      latest = { count: before + waiting, more };
      setNews(latest);
    });
    return () => {
      forget();
      events.unsubscribe();
    };
  }, [signedIn, feed]);
  return news;
}
