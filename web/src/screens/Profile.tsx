// A person: name, counts, boards and pins.
import { useQuery } from "@apollo/client/react";
import { useCallback, useEffect, useState } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { make } from "../api/change";
import { keepSession } from "../api/session";
import { session } from "../api/viewer";
import { createBoard } from "../changes/boards";
import { Avatar } from "../components/Avatar";
import { BoardCard } from "../components/BoardCard";
import { DeleteAccount } from "../components/DeleteAccount";
import { DownloadData } from "../components/DownloadData";
import { EditProfile } from "../components/EditProfile";
import { FollowButton } from "../components/FollowButton";
import { KeepApart } from "../components/KeepApart";
import { KeptAway } from "../components/KeptAway";
import { PinWall } from "../components/PinWall";
import { Report } from "../components/Report";
import { SignOutEverywhere } from "../components/SignOutEverywhere";
import { graphql } from "../gen";
import { Absent } from "./Pin";
import { useTitle } from "../title";

const ProfilePage = graphql(`
  query ProfilePage($name: String!) {
    viewer {
      id
    }
    user(username: $name) {
      id
      username
      fullName
      about
      email
      avatar {
        url
      }
      followerCount
      followingCount
      viewerFollows
      viewerMutes
      boards(first: 50) {
        edges {
          node {
            id
            ...BoardCard
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

const ProfilePins = graphql(`
  query ProfilePins($name: String!, $after: String) {
    user(username: $name) {
      id
      pins(first: 50, after: $after) {
        edges {
          cursor
          node {
            id
            ...PinCard
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

const NO_EDGES: never[] = [];

export function ProfileScreen({ name }: { name: string }) {
  const { data, loading, error } = useQuery(ProfilePage, { variables: { name } });
  const [editing, edit] = useState(false);
  const [deleting, remove] = useState(false);
  const user = data?.user;
  useTitle(user ? user.fullName || user.username : undefined);
  const present = user?.username;
  const own = Boolean(user && user.id === data?.viewer?.id);
  useEffect(() => {
    if (!present) return;
    // The name was changed on another device.
    if (own && present !== session?.username) keepSession({ username: present });
    // The address has an earlier name.
    if (present !== name.toLowerCase()) navigate(`/user/${present}`, { replace: true });
  }, [present, own, name]);
  if (!user) return <Absent loading={loading} error={error} what="person" />;
  const shown = user.fullName || user.username;
  return (
    <>
      <header class="profile">
        <Avatar avatar={user.avatar} name={shown} size={96} />
        <h1>{shown}</h1>
        <p class="quiet">
          @{user.username} · {user.followerCount} {user.followerCount === 1 ? "follower" : "followers"} ·{" "}
          {user.followingCount} following
        </p>
        {user.about && <p>{user.about}</p>}
        {!own && <FollowButton kind="user" id={user.id} name={shown} follows={user.viewerFollows ?? false} />}
        {!own && <KeepApart key={user.id} id={user.id} name={shown} muted={user.viewerMutes ?? false} />}
        {!own && <Report key={user.id} id={user.id} what={shown} />}
        {own && (
          <button type="button" onClick={() => edit(true)}>
            Edit profile
          </button>
        )}
      </header>
      {editing && (
        <EditProfile
          username={user.username}
          fullName={user.fullName}
          about={user.about}
          email={user.email ?? ""}
          picture={user.avatar?.url ?? ""}
          onClose={() => edit(false)}
        />
      )}
      <section aria-label="Boards">
        <h2>Boards</h2>
        {own && <NewBoard />}
        <ul class="boards">
          {(user.boards?.edges ?? []).map(
            ({ node }) =>
              node && (
                <li key={node.id}>
                  <BoardCard board={node} />
                </li>
              ),
          )}
        </ul>
      </section>
      <Pins name={name} />
      {own && <KeptAway />}
      {own && <DownloadData />}
      {own && <SignOutEverywhere />}
      {own && (
        <p>
          <button type="button" onClick={() => remove(true)}>
            Delete account…
          </button>
        </p>
      )}
      {deleting && <DeleteAccount username={user.username} onClose={() => remove(false)} />}
    </>
  );
}

function NewBoard() {
  const [name, setName] = useState("");
  const [secret, setSecret] = useState(false);
  const create = async (event: Event) => {
    event.preventDefault();
    if (await make(createBoard, { name: name.trim(), description: "", secret })) setName("");
  };
  return (
    <form class="row new-board" onSubmit={(event) => void create(event)}>
      <input
        aria-label="Name of a new board"
        placeholder="New board"
        required
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <label>
        <input type="checkbox" checked={secret} onChange={(event) => setSecret(event.currentTarget.checked)} /> Secret
      </label>
      <button type="submit">Create</button>
    </form>
  );
}

function Pins({ name }: { name: string }) {
  const { data, loading, fetchMore } = useQuery(ProfilePins, { variables: { name } });
  const pins = data?.user?.pins;
  const after = pins?.pageInfo.hasNextPage ? pins.pageInfo.endCursor : null;
  const more = useCallback(() => {
    if (after && !loading) void fetchMore({ variables: { after } });
  }, [after, loading, fetchMore]);
  return (
    <section aria-label="Pins">
      <h2>Pins</h2>
      <PinWall label="Pins" edges={pins?.edges ?? NO_EDGES} onEnd={more} />
    </section>
  );
}
