// The sections of a board in their order, each with its pins, above the wall of all pins.
import { useQuery } from "@apollo/client/react";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { make } from "../api/change";
import { client } from "../api/client";
import { createSection, reorderSection } from "../changes/sections";
import { graphql } from "../gen";
import type { BoardSectionFragment, PinCardFragment } from "../gen/graphql";
import { Dialog } from "./Dialog";
import { EditSection } from "./EditSection";
import { Field } from "./Field";
import { Picture } from "./Picture";

export const SectionPins = graphql(`
  fragment SectionPins on PinConnection {
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
`);

export const BoardSection = graphql(`
  fragment BoardSection on Section {
    id
    name
    pinCount
    pins(first: 12) {
      ...SectionPins
    }
  }
`);

// A separate query: the board's pins are shown before its sections have been read.
const BoardSections = graphql(`
  query BoardSections($id: ID!, $after: String) {
    board(id: $id) {
      id
      sections(first: 10, after: $after) {
        edges {
          node {
            id
            ...BoardSection
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

const MoreOfSection = graphql(`
  query MoreOfSection($id: ID!, $after: String!) {
    node(id: $id) {
      id
      ... on Section {
        pins(first: 48, after: $after) {
          ...SectionPins
        }
      }
    }
  }
`);

interface Props {
  boardId: string;
  canOrder: boolean;
  onMove: (pin: PinCardFragment, sectionId: string) => void;
}

export function SectionList({ boardId, canOrder, onMove }: Props) {
  const { data, loading, fetchMore } = useQuery(BoardSections, { variables: { id: boardId } });
  const [adding, add] = useState(false);
  const [editing, edit] = useState<BoardSectionFragment | null>(null);
  const [said, say] = useState("");
  const focused = useRef<HTMLButtonElement | null>(null);
  const page = data?.board?.sections;
  const sections = (page?.edges ?? []).flatMap(({ node }) => (node ? [node] : []));
  const after = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  const order = sections.map(({ id }) => id).join();
  // A browser removes the focus from an element that is moved.
  useLayoutEffect(() => {
    focused.current?.focus();
    focused.current = null;
  }, [order]);

  const swap = async (button: HTMLButtonElement, place: number, step: 1 | -1) => {
    const [section, other] = [sections[place], sections[place + step]];
    if (!section || !other) return;
    focused.current = button;
    const beforeSectionId = step === 1 ? other.id : null;
    const afterSectionId = step === 1 ? null : other.id;
    const done = await make(reorderSection, { sectionId: section.id, beforeSectionId, afterSectionId });
    if (done) say(`${section.name} is now section ${place + step + 1} of ${sections.length}.`);
    else focused.current = null;
  };

  return (
    <>
      <p class="visually-hidden" aria-live="polite">
        {said}
      </p>
      {sections.map((section, place) => (
        <section key={section.id} data-section={section.id} aria-label={`Section ${section.name}`}>
          <div class="row">
            <h2>{section.name}</h2>
            <span class="quiet">
              {section.pinCount} {section.pinCount === 1 ? "pin" : "pins"}
            </span>
            {canOrder && (
              <>
                <Step name={`Move ${section.name} up`} sign="↑" able={place > 0} onStep={(at) => void swap(at, place, -1)} />
                <Step
                  name={`Move ${section.name} down`}
                  sign="↓"
                  able={place < sections.length - 1}
                  onStep={(at) => void swap(at, place, 1)}
                />
                <button type="button" onClick={() => edit(section)}>
                  Edit<span class="visually-hidden"> the section {section.name}</span>
                </button>
              </>
            )}
          </div>
          <PinsOf section={section} onMove={canOrder ? (pin) => onMove(pin, section.id) : undefined} />
        </section>
      ))}
      <p class="row">
        {after && (
          <button type="button" disabled={loading} onClick={() => void fetchMore({ variables: { after } })}>
            Show more sections
          </button>
        )}
        {canOrder && (
          <button type="button" onClick={() => add(true)}>
            Add a section
          </button>
        )}
      </p>
      {adding && <AddSection boardId={boardId} onClose={() => add(false)} />}
      {editing && <EditSection section={editing} onClose={() => edit(null)} />}
    </>
  );
}

interface StepProps {
  name: string;
  sign: string;
  able: boolean;
  onStep: (button: HTMLButtonElement) => void;
}

// At the list's end the button keeps the focus, so it is never `disabled`.
function Step({ name, sign, able, onStep }: StepProps) {
  return (
    <button type="button" class="icon" aria-disabled={!able} onClick={(event) => able && onStep(event.currentTarget)}>
      <span aria-hidden="true">{sign}</span>
      <span class="visually-hidden">{name}</span>
    </button>
  );
}

interface PinsProps {
  section: BoardSectionFragment;
  onMove: ((pin: PinCardFragment) => void) | undefined;
}

function PinsOf({ section, onMove }: PinsProps) {
  const pins = (section.pins?.edges ?? []).flatMap(({ node }) => (node ? [node] : []));
  const after = section.pins?.pageInfo.hasNextPage ? section.pins.pageInfo.endCursor : null;
  // The cache adds the page to the section's list.
  const more = (cursor: string) =>
    client.query({ query: MoreOfSection, variables: { id: section.id, after: cursor }, fetchPolicy: "network-only" });
  return (
    <>
      <ol class="grid" aria-label={`Pins of the section ${section.name}`}>
        {pins.map((pin) => (
          <li key={pin.id} class="cell">
            <Link href={`/pin/${pin.id}`} aria-label={pin.title || "A pin without a title"}>
              <Picture image={pin.image} alt="" />
            </Link>
            <p class="card-title">{pin.title}</p>
            {onMove && (
              <div class="cell-tools">
                <ToSection title={pin.title} onClick={() => onMove(pin)} />
              </div>
            )}
          </li>
        ))}
      </ol>
      {after && (
        <button type="button" onClick={() => void more(after)}>
          Show more<span class="visually-hidden"> pins of {section.name}</span>
        </button>
      )}
    </>
  );
}

export function ToSection({ title, onClick }: { title: string; onClick: () => void }) {
  return (
    <button type="button" class="icon" onClick={onClick} title="Choose the section of this pin">
      <span aria-hidden="true">▤</span>
      <span class="visually-hidden">Choose the section of {title}</span>
    </button>
  );
}

function AddSection({ boardId, onClose }: { boardId: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const save = async (event: Event) => {
    event.preventDefault();
    if (await make(createSection, { boardId, name: name.trim() })) onClose();
  };
  return (
    <Dialog title="Add a section" onClose={onClose}>
      <form class="row" onSubmit={(event) => void save(event)}>
        <Field label="Name" value={name} onChange={setName} required />
        <button type="submit" class="primary">
          Add
        </button>
      </form>
    </Dialog>
  );
}
