// The following feed: pins of followed people and boards, newest first.
import { session } from "../api/viewer";
import { FeedWall } from "../components/FeedWall";
import { followingFeed } from "../feed/following";

const EMPTY = "Nothing here yet. Open a pin, then follow its owner.";

export function FollowingScreen() {
  if (!session) return <h1>Sign in to see whom you follow</h1>;
  return <FeedWall feed={followingFeed} title="Following feed" empty={EMPTY} />;
}
