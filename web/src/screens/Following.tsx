// The following feed: pins of followed people and boards, newest first.
import { session } from "../api/viewer";
import { SignInFirst } from "../components/SignInFirst";
import { PeopleToFollow } from "../components/PeopleToFollow";
import { FeedWall } from "../components/FeedWall";
import { followingFeed } from "../feed/following";
import { useTitle } from "../title";

export function FollowingScreen() {
  useTitle("Following");
  if (!session) return <SignInFirst what="see the pins of people you follow" />;
  return <FeedWall feed={followingFeed} title="Following feed" empty={<Nobody />} />;
}

function Nobody() {
  return (
    <>
      <p>Nothing here yet: follow somebody, and their new pins appear.</p>
      <PeopleToFollow feed={followingFeed} />
    </>
  );
}
