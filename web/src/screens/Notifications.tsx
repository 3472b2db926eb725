// What others did with the viewer's profile, boards and pins, and files that are ready. Opening the
// screen marks it as read.
import { useQuery } from "@apollo/client/react";
import { useEffect, useRef } from "preact/hooks";
import { Link } from "wouter-preact";
import { make } from "../api/change";
import { session } from "../api/viewer";
import { markNotificationsRead } from "../changes/notifications";
import { Avatar } from "../components/Avatar";
import { dataOf } from "../components/DownloadData";
import { Invitation } from "../components/Invitation";
import { SignInFirst } from "../components/SignInFirst";
import { useUnread } from "../feed/unread";
import { graphql } from "../gen";
import type { NotificationsPageQuery } from "../gen/graphql";
import { useTitle } from "../title";

const NotificationsPage = graphql(`
  query NotificationsPage($after: String) {
    notifications(first: 30, after: $after) {
      edges {
        cursor
        node {
          id
          type
          at
          read
          otherCount
          actor {
            id
            username
            fullName
            avatar {
              url
            }
          }
          savedPin {
            id
          }
          subject {
            ... on Pin {
              id
              title
            }
            ... on Board {
              id
              name
            }
            ... on BoardInvitation {
              boardId
              boardName
            }
            ... on Comment {
              id
              text
              pin {
                id
                title
              }
            }
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

type Shown = NonNullable<NotificationsPageQuery["notifications"]>["edges"][number]["node"];

export function NotificationsScreen() {
  useTitle("Notifications");
  if (!session) return <SignInFirst what="see your notifications" />;
  return <List />;
}

function List() {
  const { data, loading, error, fetchMore, refetch } = useQuery(NotificationsPage, { fetchPolicy: "network-only" });
  const unread = useUnread();
  const marked = useRef<string>();
  const fresh = useRef(new Set<string>());
  const edges = data?.notifications?.edges ?? [];
  for (const { node } of edges) if (!node.read) fresh.current.add(node.id);
  const newest = edges[0];
  useEffect(() => {
    if (!newest || newest.node.read || newest.cursor === marked.current) return;
    marked.current = newest.cursor;
    void make(markNotificationsRead, { upTo: newest.cursor });
  }, [newest]);
  const count = useRef(unread);
  useEffect(() => {
    if (unread > count.current) void refetch();
    count.current = unread;
  }, [unread, refetch]);
  const { hasNextPage, endCursor } = data?.notifications?.pageInfo ?? {};
  return (
    <section class="narrow" aria-labelledby="notifications">
      <h1 id="notifications">Notifications</h1>
      {error && !data && <p>They can't be read at present.</p>}
      {data && !edges.length && !hasNextPage && <p>Nothing here yet.</p>}
      <ul class="notifications">
        {edges.map(({ node }) => (
          <Entry key={node.id} node={node} fresh={fresh.current.has(node.id)} />
        ))}
      </ul>
      {hasNextPage && endCursor && (
        <button type="button" disabled={loading} onClick={() => void fetchMore({ variables: { after: endCursor } })}>
          Show more
        </button>
      )}
    </section>
  );
}

function Entry({ node, fresh }: { node: Shown; fresh: boolean }) {
  const { actor, at, type } = node;
  const own = type === "DATA_READY" ? session?.username : undefined;
  const name = own ?? (actor ? actor.fullName || actor.username : "Somebody");
  const time = new Date(at as string);
  return (
    <li class={fresh ? "fresh" : undefined}>
      <Avatar avatar={actor?.avatar} name={name} size={40} />
      <span>
        {fresh && <span class="visually-hidden">New: </span>}
        {own ? (
          <>
            Your data is ready: <Link href={dataOf(own)}>download it</Link>
          </>
        ) : (
          <>
            {actor ? <Link href={`/user/${actor.username}`}>{name}</Link> : name} <What node={node} />
          </>
        )}
        <br />
        <time class="quiet" dateTime={time.toISOString()}>
          {time.toLocaleString()}
        </time>
      </span>
    </li>
  );
}

function What({ node: { type, subject, otherCount, savedPin } }: { node: Shown }) {
  if (subject?.__typename === "BoardInvitation") return <Invitation {...subject} />;
  if (subject?.__typename === "Board") {
    return (
      <>
        {type === "JOINED_BOARD" ? "collaborates on your board" : "follows your board"}{" "}
        <Link href={`/board/${subject.id}`}>{subject.name}</Link>
      </>
    );
  }
  if (subject?.__typename === "Comment") {
    const { pin, text } = subject;
    return (
      <>
        commented on <PinLink pin={pin} />: {text}
      </>
    );
  }
  if (subject?.__typename === "Pin" && type === "LIKED") {
    const others = otherCount === 1 ? "and 1 other like" : `and ${otherCount} others like`;
    return (
      <>
        {otherCount ? others : "likes"} <PinLink pin={subject} />
      </>
    );
  }
  if (subject?.__typename === "Pin") {
    return (
      <>
        saved <PinLink pin={subject} />
        {savedPin && (
          <>
            {" "}
            (<Link href={`/pin/${savedPin.id}`}>see it there</Link>)
          </>
        )}
      </>
    );
  }
  return <>follows you</>;
}

function PinLink({ pin }: { pin: { id: string; title: string } | null }) {
  if (!pin) return <>your pin</>;
  return <Link href={`/pin/${pin.id}`}>{pin.title || "your pin"}</Link>;
}
