// The header and the screen of each address. gateway/web_client.py serves the same addresses.
import { Link, Route, Switch, useLocation } from "wouter-preact";
import { useEffect, useRef } from "preact/hooks";
import { endSession } from "./api/session";
import { session } from "./api/viewer";
import { Bell } from "./components/Bell";
import { SearchBox } from "./components/SearchBox";
import { Toasts } from "./components/Toasts";
import { focusMain } from "./focus";
import { BoardScreen } from "./screens/Board";
import { FollowingScreen } from "./screens/Following";
import { HomeScreen } from "./screens/Home";
import { NewPinScreen } from "./screens/NewPin";
import { NotificationsScreen } from "./screens/Notifications";
import { PinScreen } from "./screens/Pin";
import { ProfileScreen } from "./screens/Profile";
import { SearchScreen } from "./screens/Search";
import { SignInScreen } from "./screens/SignIn";

export function App() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <Switch>
          <Route path="/" component={HomeScreen} />
          <Route path="/following" component={FollowingScreen} />
          <Route path="/new" component={NewPinScreen} />
          <Route path="/notifications" component={NotificationsScreen} />
          <Route path="/search" component={SearchScreen} />
          <Route path="/sign-in" component={SignInScreen} />
          {/* The key makes a new screen for each object: no state of the last one stays. */}
          <Route path="/pin/:id">{({ id }) => <PinScreen key={id} id={id} />}</Route>
          <Route path="/board/:id">{({ id }) => <BoardScreen key={id} id={id} />}</Route>
          <Route path="/user/:name">{({ name }) => <ProfileScreen key={name} name={name} />}</Route>
          <Route>
            <h1>There is no such page</h1>
          </Route>
        </Switch>
      </main>
      <Toasts />
    </>
  );
}

function Header() {
  const [path] = useLocation();
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    // Otherwise a screen reader would not announce the new screen.
    focusMain();
    // Feeds keep their pins, so going back to a feed keeps the scroll position; an object starts at
    // the top.
    if (/^\/(pin|board|user)\//.test(path)) scrollTo(0, 0);
  }, [path]);
  const link = (href: string, words: string) => (
    <Link href={href} aria-current={path === href ? "page" : undefined}>
      {words}
    </Link>
  );
  return (
    <header class="top">
      <Link href="/" class="brand" aria-label="Pinway">
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width={24} height={24} />
        <span>Pinway</span>
      </Link>
      <SearchBox />
      <nav aria-label="Main">
        {link("/", "Home")}
        {session && link("/following", "Following")}
        {session && link("/new", "Create")}
        {session && <Bell />}
        {session && link(`/user/${session.username}`, "Profile")}
        {session ? (
          <button type="button" class="quiet-button" onClick={endSession}>
            Sign out
          </button>
        ) : (
          link("/sign-in", "Sign in")
        )}
      </nav>
    </header>
  );
}
