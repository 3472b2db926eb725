// A board: its sections, and its pins in their order, which its owner changes by dragging or with the keyboard.
import { useQuery } from "@apollo/client/react";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { make } from "../api/change";
import { type Drag, useDrag } from "../board/drag";
import { dropAt, placed } from "../board/order";
import { reorder } from "../changes/boards";
import { leaveBoard } from "../changes/members";
import { movePin } from "../changes/pins";
import { movePinToSection } from "../changes/sections";
import { BoardPicker } from "../components/BoardPicker";
import { Dialog } from "../components/Dialog";
import { EditBoard } from "../components/EditBoard";
import { FollowButton } from "../components/FollowButton";
import { Picture } from "../components/Picture";
import { Report } from "../components/Report";
import { SectionList, ToSection } from "../components/SectionList";
import { type Section, SectionPicker, sectionsOf } from "../components/SectionPicker";
import { ShareBoard } from "../components/ShareBoard";
import { announce } from "../components/Toasts";
import { graphql } from "../gen";
import type { PinCardFragment } from "../gen/graphql";
import { Absent } from "./Pin";
import { useTitle } from "../title";

const BoardPage = graphql(`
  query BoardPage($id: ID!, $after: String) {
    board(id: $id) {
      id
      name
      description
      secret
      pinCount
      followerCount
      viewerFollows
      viewerCanEdit
      viewerRole
      owner {
        id
        username
        fullName
      }
      pins(first: 100, after: $after) {
        edges {
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

interface Held {
  id: string;
  place: number;
}

// A pin for which a section is being chosen.
interface Placed {
  pin: PinCardFragment;
  sections: Section[];
}

export function BoardScreen({ id }: { id: string }) {
  const { data, loading, error, fetchMore } = useQuery(BoardPage, { variables: { id } });
  const board = data?.board;
  useTitle(board?.name);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [held, hold] = useState<Held | null>(null);
  const [moving, setMoving] = useState<string[] | null>(null);
  const [editing, edit] = useState(false);
  const [sharing, share] = useState(false);
  const [placing, setPlacing] = useState<Placed | null>(null);
  const [said, say] = useState("");
  const focused = useRef<HTMLButtonElement>(null);

  const pins = useMemo(() => (board?.pins?.edges ?? []).flatMap(({ node }) => (node ? [node] : [])), [board]);
  const away = (board?.pins?.edges ?? []).filter(({ node }) => !node).length;
  const ids = useMemo(() => pins.map((pin) => pin.id), [pins]);
  const put = (moved: string[], place: number) => void make(reorder, { boardId: id, ...dropAt(ids, moved, place) });
  const { drag, begin } = useDrag(ids, ({ moved, place }) => put(moved, place));

  // A pin that is being moved with the keyboard is shown where it would land.
  const shown = held ? placed(pins, (pin) => pin.id, dropAt(ids, [held.id], held.place)) : pins;
  // A browser removes the focus from an element that is moved. The element gets it back before the
  // next key.
  useLayoutEffect(() => {
    if (held) focused.current?.focus();
  }, [held]);

  if (!board) return <Absent loading={loading} error={error} what="board" />;
  const canEdit = board.viewerCanEdit;
  const shares = board.viewerRole === "COLLABORATOR";
  const canOrder = canEdit || shares;
  const leave = async () => {
    if (await make(leaveBoard, { boardId: id })) announce(`You left the board ${board.name}.`);
  };
  const choosePlace = async (pin: PinCardFragment, except?: string) => {
    try {
      const sections = await sectionsOf(id);
      if (sections.length) setPlacing({ pin, sections: sections.filter((section) => section.id !== except) });
      else announce("Add a section to the board first.", "error");
    } catch {
      announce("The sections of the board can't be read right now. Try again in a moment.", "error");
    }
  };
  const putInto = async ({ pin }: Placed, sectionId: string | null, name: string) => {
    setPlacing(null);
    const done = await make(movePinToSection, { pinId: pin.id, sectionId });
    if (done) announce(sectionId ? `${pin.title} is in ${name} now.` : `${pin.title} is in no section now.`);
  };
  const owner = board.owner?.fullName || board.owner?.username;
  const after = board.pins?.pageInfo.hasNextPage ? board.pins.pageInfo.endCursor : null;

  const onKey = (event: KeyboardEvent, pin: PinCardFragment) => {
    const place = held?.place ?? ids.indexOf(pin.id);
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (event.key === " " || event.key === "Enter") {
      if (held) {
        put([held.id], held.place);
        say(`${pin.title} is now pin ${held.place + 1} of ${ids.length}.`);
      } else say(`${pin.title} is held. Arrow keys move the pin, Space drops it, Escape puts it back.`);
      hold(held ? null : { id: pin.id, place });
    } else if (held && step) {
      const next = Math.min(Math.max(place + step, 0), ids.length - 1);
      hold({ id: pin.id, place: next });
      say(`Place ${next + 1} of ${ids.length}.`);
    } else if (held && event.key === "Escape") {
      hold(null);
      say("The pin is back in its place.");
    } else return;
    event.preventDefault();
  };

  const movedWith = (pinId: string) => (chosen.has(pinId) ? ids.filter((other) => chosen.has(other)) : [pinId]);
  const others = drag ? ids.filter((other) => !drag.moved.includes(other)) : [];
  const classOf = (pinId: string) => {
    if (!drag) return held?.id === pinId ? "cell held" : "cell";
    if (drag.moved.includes(pinId)) return "cell dragged";
    if (others[drag.place] === pinId) return "cell drop-before";
    if (drag.place === others.length && others.at(-1) === pinId) return "cell drop-after";
    return "cell";
  };
  const toggle = (pinId: string) => {
    const next = new Set(chosen);
    if (!next.delete(pinId)) next.add(pinId);
    choose(next);
  };
  const moveAll = async (boardId: string, name: string) => {
    const wanted = moving ?? [];
    setMoving(null);
    choose(new Set());
    let done = 0;
    // From the last to the first: each pin goes on top of the other board, so the order is kept.
    for (const pinId of [...wanted].reverse()) if (await make(movePin, { pinId, boardId })) done += 1;
    if (done) announce(`Moved ${done} ${done === 1 ? "pin" : "pins"} to ${name}.`);
  };

  return (
    <>
      <header class="profile board-head">
        <h1>
          {board.name} {board.secret && <span class="badge">Secret: only you see it</span>}
        </h1>
        <p class="quiet">
          {board.pinCount} {board.pinCount === 1 ? "pin" : "pins"} · {board.followerCount}{" "}
          {board.followerCount === 1 ? "follower" : "followers"}
          {board.owner && (
            <>
              {" · "}by <Link href={`/user/${board.owner.username}`}>{owner}</Link>
            </>
          )}
        </p>
        {board.description && <p>{board.description}</p>}
        {!canEdit && <FollowButton kind="board" id={id} name={board.name} follows={board.viewerFollows ?? false} />}
        {!canEdit && <Report id={id} what="this board" />}
        {canEdit && (
          <p class="row">
            <button type="button" onClick={() => edit(true)}>
              Edit board
            </button>
            <button type="button" onClick={() => share(true)}>
              Share
            </button>
          </p>
        )}
        {shares && (
          <button type="button" onClick={() => void leave()}>
            Leave the board
          </button>
        )}
        {canOrder && ids.length > 1 && <p class="quiet">Drag the pins into the order you like.</p>}
        {chosen.size > 0 && (
          <p class="row selection">
            <button type="button" class="primary" onClick={() => setMoving(ids.filter((other) => chosen.has(other)))}>
              Move {chosen.size} to another board
            </button>
            <button type="button" onClick={() => choose(new Set())}>
              Clear
            </button>
          </p>
        )}
      </header>
      <p class="visually-hidden" aria-live="assertive">
        {said}
      </p>
      <SectionList boardId={id} canOrder={canOrder} onMove={(pin, sectionId) => void choosePlace(pin, sectionId)} />
      <ol class={drag ? "grid dragging" : "grid"} aria-label={`Pins of ${board.name}`}>
        {shown.map((pin) => (
          <li
            key={pin.id}
            data-pin={pin.id}
            class={classOf(pin.id)}
            onPointerDown={(event) => {
              // A finger scrolls the page; only the grip drags.
              if (canOrder && event.pointerType === "mouse" && !(event.target as Element).closest("button, input"))
                begin(event, movedWith(pin.id));
            }}
          >
            <Link href={`/pin/${pin.id}`} draggable={false} aria-label={pin.title || "A pin without a title"}>
              <Picture image={pin.image} alt="" />
            </Link>
            <p class="card-title">{pin.title}</p>
            {canOrder && (
              <div class="cell-tools">
                {canEdit && (
                  <input
                    type="checkbox"
                    aria-label={`Select ${pin.title}`}
                    checked={chosen.has(pin.id)}
                    onChange={() => toggle(pin.id)}
                  />
                )}
                <ToSection title={pin.title} onClick={() => void choosePlace(pin)} />
                <button
                  type="button"
                  class="icon grip"
                  ref={held?.id === pin.id ? focused : undefined}
                  aria-pressed={held?.id === pin.id}
                  onKeyDown={(event) => onKey(event, pin)}
                  onPointerDown={(event) => begin(event, movedWith(pin.id))}
                >
                  <span aria-hidden="true">⠿</span>
                  <span class="visually-hidden">Change the place of {pin.title}</span>
                </button>
              </div>
            )}
          </li>
        ))}
        {away > 0 && (
          <li class="cell away">
            {away} {away === 1 ? "pin" : "pins"} of this board can't be shown right now. They will be back when their
            server answers.
          </li>
        )}
      </ol>
      {drag && <Ghost drag={drag} pins={pins} />}
      {after && (
        <p class="feed-end">
          <button type="button" disabled={loading} onClick={() => void fetchMore({ variables: { after } })}>
            Show more pins
          </button>
        </p>
      )}
      {editing && <EditBoard board={board} onClose={() => edit(false)} />}
      {sharing && <ShareBoard boardId={id} onClose={() => share(false)} />}
      {placing && (
        <Dialog title={`Section of ${placing.pin.title || "this pin"}`} onClose={() => setPlacing(null)}>
          <SectionPicker
            sections={placing.sections}
            none="No section"
            onChoose={(sectionId, name) => void putInto(placing, sectionId, name)}
          />
        </Dialog>
      )}
      {moving && (
        <Dialog title="Move to…" onClose={() => setMoving(null)}>
          <BoardPicker except={id} onChoose={(board, name) => void moveAll(board, name)} />
        </Dialog>
      )}
    </>
  );
}

// The picture of the first dragged pin beside the pointer, with the number of pins when several move.
function Ghost({ drag, pins }: { drag: Drag; pins: PinCardFragment[] }) {
  const first = pins.find((pin) => pin.id === drag.moved[0]);
  return (
    <div class="ghost" aria-hidden="true" style={{ transform: `translate(${drag.x}px, ${drag.y}px)` }}>
      <Picture image={first?.image} alt="" eager />
      {drag.moved.length > 1 && <span class="ghost-count">{drag.moved.length}</span>}
    </div>
  );
}
