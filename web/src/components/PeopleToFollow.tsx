// People to follow: the owners of the pins in the home feed, each with covers of their boards.
import { useQuery } from "@apollo/client/react";
import { Link } from "wouter-preact";
import { useEffect, useState, useSyncExternalStore } from "preact/compat";
import { session } from "../api/viewer";
import type { Feed } from "../feed/feed";
import { homeFeed } from "../feed/home";
import { graphql } from "../gen";
import type { PersonToFollowFragment } from "../gen/graphql";
import { Avatar } from "./Avatar";
import { FollowButton } from "./FollowButton";
import { Picture } from "./Picture";

export const PersonToFollow = graphql(`
  fragment PersonToFollow on User {
    id
    username
    fullName
    pinCount
    viewerFollows
    avatar {
      url
    }
    covers: boards(first: 3) {
      edges {
        node {
          id
          cover {
            id
            image {
              url
              width
              height
              dominantColor
            }
          }
        }
      }
    }
  }
`);

const PeopleToFollowQuery = graphql(`
  query PeopleToFollow($ids: [ID!]!) {
    viewer {
      id
      followingCount
    }
    nodes(ids: $ids) {
      id
      ...PersonToFollow
    }
  }
`);

const MOST = 12;
const ENOUGH = 30; // followed people and boards: then the home feed offers no more
const KEY = "pinway:people";

// A strip above the home feed, until it is closed or the viewer follows enough. Its height is
// reserved from the start, so that the feed below doesn't jump.
export function PeopleStrip() {
  const [open, setOpen] = useState(session !== null && localStorage.getItem(KEY) !== "closed");
  const { people, followed, nobody } = usePeople(open);
  if (!open || nobody || followed >= ENOUGH) return null;
  const close = () => {
    localStorage.setItem(KEY, "closed");
    setOpen(false);
  };
  return (
    <section class="strip" aria-label="People to follow">
      <People people={people ?? []} feed={homeFeed} />
      <button type="button" class="icon strip-close" onClick={close}>
        <span aria-hidden="true">✕</span>
        <span class="visually-hidden">Close people to follow</span>
      </button>
    </section>
  );
}

// People to follow, for a following feed that is empty.
export function PeopleToFollow({ feed }: { feed: Feed }) {
  const { people } = usePeople(true);
  return <People people={people ?? []} feed={feed} wrapped />;
}

function People({ people, feed, wrapped }: { people: PersonToFollowFragment[]; feed: Feed; wrapped?: boolean }) {
  return (
    <ul class={wrapped ? "follow-cards wrapped" : "follow-cards"}>
      {people.map((person) => {
        const name = person.fullName || person.username;
        return (
          <li key={person.id} class="follow-card">
            <Link href={`/user/${person.username}`}>
              <Covers person={person} />
              <Avatar avatar={person.avatar} name={name} size={44} />
              <span class="follow-name">{name}</span>
            </Link>
            <FollowButton
              kind="user"
              id={person.id}
              name={name}
              follows={person.viewerFollows ?? false}
              onChanged={() => void feed.renew()}
            />
          </li>
        );
      })}
    </ul>
  );
}

function Covers({ person }: { person: PersonToFollowFragment }) {
  const boards = person.covers?.edges ?? [];
  return (
    <span class="covers">
      {boards.map(({ node }) => node && <Picture key={node.id} image={node.cover?.image} alt="" />)}
    </span>
  );
}

// The people are the owners in the first home feed that this page shows. The list stays the same
// while the viewer follows some of them and the feed below changes.
function usePeople(wanted: boolean) {
  const { entries, round } = useSyncExternalStore(homeFeed.subscribe, homeFeed.snapshot);
  const [ids, setIds] = useState<string[]>([]);
  useEffect(() => {
    if (wanted) void homeFeed.open();
  }, [wanted]);
  useEffect(() => {
    if (!ids.length && entries.length) setIds(ownersOf(entries));
  }, [ids, entries]);
  const { data } = useQuery(PeopleToFollowQuery, { variables: { ids }, skip: !wanted || !ids.length });
  const [offered, offer] = useState<string[] | null>(null);
  const found = (data?.nodes ?? []).flatMap((node) => (node?.__typename === "User" ? [node] : []));
  useEffect(() => {
    if (data && !offered) offer(choose(found));
  }, [data, offered]);
  const people = offered?.flatMap((id) => found.find((person) => person.id === id) ?? []);
  return {
    people,
    followed: data?.viewer?.followingCount ?? 0,
    nobody: people?.length === 0 || (round > 0 && !entries.length),
  };
}

// People with the most pins come first: following them changes the feed most.
function choose(people: PersonToFollowFragment[]): string[] {
  return people
    .filter(({ username, viewerFollows }) => !viewerFollows && username !== session?.username)
    .sort((one, other) => other.pinCount - one.pinCount)
    .slice(0, MOST)
    .map(({ id }) => id);
}

function ownersOf(entries: { owner?: string }[]): string[] {
  return [...new Set(entries.flatMap(({ owner }) => owner ?? []))].slice(0, 2 * MOST);
}
