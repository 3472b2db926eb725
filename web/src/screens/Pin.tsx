// One pin: its picture, board, owner, likes, comments, and pins of the same topics or board.
import { useQuery } from "@apollo/client/react";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { navigate } from "wouter-preact/use-browser-location";
import { make } from "../api/change";
import { isMistake } from "../api/mistake";
import { requireSignIn, session } from "../api/viewer";
import { createComment } from "../changes/comments";
import { note } from "../changes/events";
import { deletePin, movePin } from "../changes/pins";
import { Avatar } from "../components/Avatar";
import { BoardPicker } from "../components/BoardPicker";
import { Dialog } from "../components/Dialog";
import { FollowButton } from "../components/FollowButton";
import { LikeButton } from "../components/LikeButton";
import { Picture } from "../components/Picture";
import { PinWall } from "../components/PinWall";
import { Report } from "../components/Report";
import { SaveDialog } from "../components/SaveDialog";
import { announce } from "../components/Toasts";
import { graphql } from "../gen";
import { useTitle } from "../title";

const PinPage = graphql(`
  query PinPage($id: ID!) {
    pin(id: $id) {
      id
      ...PinCard
      description
      owner {
        id
        avatar {
          url
        }
        viewerFollows
      }
      board {
        id
        name
        secret
        viewerCanEdit
      }
      commentCount
      comments(first: 20) {
        edges {
          node {
            id
            ...CommentRow
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

export const CommentRow = graphql(`
  fragment CommentRow on Comment {
    id
    text
    createdAt
    author {
      id
      username
      fullName
      avatar {
        url
      }
    }
  }
`);

// A separate query: the pin is shown before these lists have been read.
const Related = graphql(`
  query Related($id: ID!) {
    pin(id: $id) {
      id
      related(first: 36) {
        id
        ...PinCard
      }
      interests {
        id
        pins(first: 12) {
          edges {
            node {
              id
              ...PinCard
            }
          }
        }
      }
      board {
        id
        beside: pins(first: 24) {
          edges {
            node {
              id
              ...PinCard
            }
          }
        }
      }
    }
  }
`);

const MOST_RELATED = 36;

export function PinScreen({ id }: { id: string }) {
  const { data, loading, error } = useQuery(PinPage, { variables: { id } });
  const [dialog, open] = useState<"save" | "move" | null>(null);
  const pin = data?.pin;
  useTitle(pin ? pin.title || "A pin without a title" : undefined);
  const opened = pin?.id;
  useEffect(() => {
    if (opened) note("OPENED", opened);
  }, [opened]);
  if (!pin?.title && pin?.title !== "") return <Absent loading={loading} error={error} what="pin" />;
  const title = pin.title || "A pin without a title";
  const owned = pin.board?.viewerCanEdit ?? false;

  const move = async (boardId: string, name: string) => {
    open(null);
    if (await make(movePin, { pinId: id, boardId })) announce(`Moved to ${name}.`);
  };
  const remove = async () => {
    const board = pin.board?.id;
    if (await make(deletePin, { pinId: id })) navigate(board ? `/board/${board}` : "/");
  };

  return (
    <>
      <article class="pin-page">
        <Picture image={pin.image} alt={title} eager />
        <div class="pin-words">
          <div class="row">
            <button type="button" class="primary" onClick={() => open("save")}>
              Save
            </button>
            <LikeButton id={id} title={title} likeCount={pin.likeCount} liked={pin.viewerHasLiked ?? false} />
            {owned && (
              <button type="button" onClick={() => open("move")}>
                Move
              </button>
            )}
            {owned && (
              <button type="button" onClick={() => void remove()}>
                Delete
              </button>
            )}
            {!owned && <Report id={id} what="this pin" />}
          </div>
          <h1>{title}</h1>
          {pin.description && <p>{pin.description}</p>}
          {pin.link && (
            <p>
              <a href={pin.link} rel="noreferrer noopener" onClick={() => note("LINK_FOLLOWED", id)}>
                {hostOf(pin.link)}
              </a>
            </p>
          )}
          {pin.board && (
            <p>
              On <Link href={`/board/${pin.board.id}`}>{pin.board.name}</Link>{" "}
              {pin.board.secret && <span class="badge">Secret</span>}
            </p>
          )}
          {pin.owner && (
            <div class="row person">
              <Avatar avatar={pin.owner.avatar} name={pin.owner.fullName || pin.owner.username} size={40} />
              <Link href={`/user/${pin.owner.username}`}>{pin.owner.fullName || pin.owner.username}</Link>
              {!owned && (
                <FollowButton
                  kind="user"
                  id={pin.owner.id}
                  name={pin.owner.fullName || pin.owner.username}
                  follows={pin.owner.viewerFollows ?? false}
                />
              )}
            </div>
          )}
          <section aria-label="Comments">
            <h2>{pin.commentCount === 1 ? "1 comment" : `${pin.commentCount} comments`}</h2>
            <CommentForm pinId={id} />
            <ul class="comments">
              {(pin.comments?.edges ?? []).map(
                ({ node }) =>
                  node && (
                    <li key={node.id}>
                      <Avatar avatar={node.author?.avatar} name={node.author?.fullName || node.author?.username} size={32} />
                      <span>
                        <strong>{node.author?.fullName || node.author?.username || "Somebody"}</strong> {node.text}
                      </span>
                      {node.author && node.author.username !== session?.username && (
                        <Report id={node.id} what={`the comment of ${node.author.fullName || node.author.username}`} />
                      )}
                    </li>
                  ),
              )}
            </ul>
          </section>
        </div>
      </article>
      <RelatedPins id={id} />
      {dialog === "save" && <SaveDialog pinId={id} title={title} onClose={() => open(null)} />}
      {dialog === "move" && (
        <Dialog title="Move to…" onClose={() => open(null)}>
          <BoardPicker except={pin.board?.id} onChoose={(board, name) => void move(board, name)} />
        </Dialog>
      )}
    </>
  );
}

function CommentForm({ pinId }: { pinId: string }) {
  const [text, setText] = useState("");
  const send = async (event: Event) => {
    event.preventDefault();
    if (requireSignIn() && (await make(createComment, { pinId, text: text.trim() }))) setText("");
  };
  return (
    <form class="row" onSubmit={(event) => void send(event)}>
      <input
        aria-label="Your comment"
        placeholder="Add a comment"
        required
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Send</button>
    </form>
  );
}

function RelatedPins({ id }: { id: string }) {
  const { data } = useQuery(Related, { variables: { id } });
  const edges = useMemo(() => {
    const lists = [...(data?.pin?.interests ?? []).map(({ pins }) => pins), data?.pin?.board?.beside];
    const known = new Set([id]);
    // The pins that walks found come first. The pins beside this pin follow if there are few.
    const walked = (data?.pin?.related ?? []).map((node) => ({ node }));
    const found = [...walked, ...lists.flatMap((list) => list?.edges ?? [])];
    // A pin whose server does not answer is shown as a card that says so.
    return found.filter(({ node }) => !node || (!known.has(node.id) && known.add(node.id))).slice(0, MOST_RELATED);
  }, [data, id]);
  if (!edges.length) return null;
  return (
    <section aria-label="Related pins">
      <h2>More like this</h2>
      <PinWall label="Related pins" edges={edges} onEnd={noMore} />
    </section>
  );
}

function noMore(): void {}

export function Absent({ loading, error, what }: { loading: boolean; error: unknown; what: string }) {
  useTitle(loading ? undefined : "Not found");
  const failed = error !== undefined && !isMistake(error);
  if (loading) return <p class="feed-end">Loading…</p>;
  return (
    <>
      <h1>{failed ? `This ${what} can't be shown right now` : `There is no such ${what}`}</h1>
      <p>{failed ? "Its server does not answer. Try again in a moment." : "It was deleted, or it is secret."}</p>
    </>
  );
}

function hostOf(link: string): string {
  return URL.canParse(link) ? new URL(link).host : link;
}
