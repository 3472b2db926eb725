// A feed on the page: its state in words, new pins to load, and its wall of pins.
import { useSyncExternalStore } from "preact/compat";
import { useCallback, useEffect } from "preact/hooks";
import { session } from "../api/viewer";
import type { Entry, Feed } from "../feed/feed";
import { useNewPins } from "../feed/news";
import { Banner } from "./Banner";
import { Masonry } from "./Masonry";
import { PinCard } from "./PinCard";

const BELOW_PICTURE = 122;
const FIRST_SEEN = 8; // cards whose pictures load at once

interface Props {
  feed: Feed;
  title: string;
  empty: string;
}

export function FeedWall({ feed, title, empty }: Props) {
  const state = useSyncExternalStore(feed.subscribe, feed.snapshot);
  const newPins = useNewPins(session !== null, state.round);
  const more = useCallback(() => void feed.more(), [feed]);
  const card = useCallback(
    (entry: Entry, place: number) => (
      <PinCard id={entry.id} reason={entry.reason} eager={place < FIRST_SEEN} canHide />
    ),
    [],
  );
  useEffect(() => {
    void feed.open();
  }, [feed]);

  const renew = () => {
    scrollTo(0, 0);
    void feed.renew();
  };

  return (
    <>
      <h1 class="visually-hidden">{title}</h1>
      <Banner feed={state} onRetry={() => void feed.retry()} />
      <div class="news" role="status">
        {newPins > 0 && (
          <button type="button" class="primary" onClick={renew}>
            {newPins} new {newPins === 1 ? "pin" : "pins"}
          </button>
        )}
      </div>
      {state.entries.length > 0 && (
        <Masonry label={title} tiles={state.entries} below={BELOW_PICTURE} onEnd={more} card={card} />
      )}
      <p class="feed-end" aria-live="polite">
        {state.loading && "Loading pins…"}
        {!state.loading && state.ended && (state.entries.length ? "That is all for now." : empty)}
      </p>
    </>
  );
}
