// The home feed: new pins first, each with the reason why it is shown.
import { Link } from "wouter-preact";
import { session } from "../api/viewer";
import { FeedWall } from "../components/FeedWall";
import { PeopleStrip } from "../components/PeopleToFollow";
import { homeFeed } from "../feed/home";
import { useTitle } from "../title";

export function HomeScreen() {
  useTitle("");
  return (
    <>
      {session ? <PeopleStrip /> : <Welcome />}
      <FeedWall feed={homeFeed} title="Home feed" withReasons canHide={session !== null} empty="There are no pins yet." />
    </>
  );
}

function Welcome() {
  return (
    <section class="welcome" aria-label="Welcome">
      <p class="welcome-title">Pictures that people keep</p>
      <p>These are popular. Sign in, follow people you like, and this page becomes yours.</p>
      <Link href="/sign-in" class="button primary">
        Choose who you are
      </Link>
    </section>
  );
}
