// The home feed: new pins first, each with the reason for which it is there.
import { FeedWall } from "../components/FeedWall";
import { homeFeed } from "../feed/home";

export function HomeScreen() {
  return <FeedWall feed={homeFeed} title="Home feed" empty="There are no pins yet." />;
}
