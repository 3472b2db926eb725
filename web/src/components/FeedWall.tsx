// A feed on the page: its state as text, new pins to load, and its wall of pins.
import type { ComponentChildren } from "preact";
import { useSyncExternalStore } from "preact/compat";
import { useCallback, useEffect } from "preact/hooks";
import { session } from "../api/viewer";
import type { Entry, Feed } from "../feed/feed";
import { useNewPins } from "../feed/news";
import { belowPicture } from "../api/pointer";
import { Banner } from "./Banner";
import { Masonry } from "./Masonry";
import { PinCard } from "./PinCard";

const FIRST_SEEN = 8; // cards whose pictures load at once

interface Props {
  feed: Feed;
  title: string;
  // Whether each pin shows the reason why it is in the feed.
  withReasons?: boolean;
  // Whether the viewer can hide pins.
  canHide?: boolean;
  empty: ComponentChildren;
}

export function FeedWall({ feed, title, withReasons = false, canHide = false, empty }: Props) {
  const state = useSyncExternalStore(feed.subscribe, feed.snapshot);
  const news = useNewPins(session !== null && state.entries.length > 0, state.round);
  const more = useCallback(() => void feed.more(), [feed]);
  const card = useCallback(
    (entry: Entry, place: number) => (
      <PinCard id={entry.id} reason={entry.reason} eager={place < FIRST_SEEN} canHide={canHide} />
    ),
    [canHide],
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
        {news.count > 0 && (
          <button type="button" class="primary" onClick={renew}>
            {news.count}
            {news.more && "+"} new {news.count === 1 ? "pin" : "pins"}
          </button>
        )}
      </div>
      {state.loading && !state.entries.length && <Waiting />}
      {state.entries.length > 0 && (
        <div class={state.renewing ? "renewing" : undefined} aria-busy={state.renewing}>
          <Masonry label={title} tiles={state.entries} below={belowPicture(withReasons)} onEnd={more} card={card} />
        </div>
      )}
      <div class="feed-end" aria-live="polite">
        {state.loading && state.entries.length > 0 && "Loading pins…"}
        {!state.loading && state.ended && (state.entries.length ? "That is all for now." : empty)}
      </div>
    </>
  );
}

// Gray cards in place of the first pins while these load.
function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="visually-hidden">Loading pins…</span>
      {[300, 220, 260, 340, 200, 280, 240, 320, 260, 300].map((height, place) => (
        <span key={place} class={`gray g${height}`} />
      ))}
    </div>
  );
}
