// A banner above a feed, which says that the feed is incomplete or stale, and why.
import type { State } from "../feed/feed";

export function Banner({ feed, onRetry }: { feed: State; onRetry: () => void }) {
  const words = wordsFor(feed);
  return (
    <div role="status">
      {words && (
        <p class="banner">
          <span>{words}</span>
          {feed.failed && (
            <button type="button" onClick={onRetry}>
              Try again
            </button>
          )}
        </p>
      )}
    </div>
  );
}

export function wordsFor({ failed, health, partial }: State): string | null {
  if (failed) return "Pinway can't be reached right now. The pins below are those loaded before.";
  if (!health) return null;
  if (health.stores.includes(null)) return "Part of your feed can't be read right now, so it is shorter than it should be.";
  // A feed from the standby store may also be stale: the banner names the store, which says more.
  if (health.stores.includes("STANDBY")) return "A backup store answered, because the main one did not. The newest pins may be a moment late.";
  if (health.mayBeStale) return `Some pins may be missing: part of Pinway does not answer, or is catching up${since(health.staleSince)}.`;
  if (partial) return "Some pins can't be shown right now, because the server that keeps them does not answer.";
  return null;
}

function since(time: string | null): string {
  if (!time) return "";
  return ` (since ${new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })})`;
}
