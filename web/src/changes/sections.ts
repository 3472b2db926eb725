// Creates, renames, orders and deletes the sections of a board, and moves pins into them.
import type { ApolloCache } from "@apollo/client";
import { graphql } from "../gen";
import type {
  CreateSectionMutation,
  DeleteSectionMutation,
  MovePinToSectionMutation,
  RenameSectionMutation,
  ReorderSectionMutation,
} from "../gen/graphql";
import type { StoredConnection, StoredEdge } from "../api/cache";
import { defineChange } from "../api/change";

const Create = graphql(`
  mutation CreateSection($input: CreateSectionInput!) {
    createSection(input: $input) {
      section {
        id
        ...BoardSection
      }
      board {
        id
      }
      errors {
        message
      }
    }
  }
`);

const Rename = graphql(`
  mutation RenameSection($input: RenameSectionInput!) {
    renameSection(input: $input) {
      section {
        id
        name
      }
      errors {
        message
      }
    }
  }
`);

const Reorder = graphql(`
  mutation ReorderSection($input: ReorderSectionInput!) {
    reorderSection(input: $input) {
      section {
        id
      }
      aboveSection {
        id
      }
      board {
        id
      }
      errors {
        message
      }
    }
  }
`);

const Delete = graphql(`
  mutation DeleteSection($input: DeleteSectionInput!) {
    deleteSection(input: $input) {
      deletedSectionId
      board {
        id
      }
      errors {
        message
      }
    }
  }
`);

const Move = graphql(`
  mutation MovePinToSection($input: MovePinToSectionInput!) {
    movePinToSection(input: $input) {
      pin {
        id
      }
      fromSection {
        id
        pinCount
      }
      toSection {
        id
        name
        pinCount
      }
      errors {
        message
      }
    }
  }
`);

interface NewSection {
  boardId: string;
  name: string;
}

export const createSection = defineChange<NewSection, CreateSectionMutation>({
  name: "createSection",
  document: Create,
  payload: (data) => data.createSection,
  update: (cache, { createSection: done }, { boardId }) => {
    if (done?.section) putBelow(cache, boardId, done.section.id, null);
  },
});

export const renameSection = defineChange<{ sectionId: string; name: string }, RenameSectionMutation>({
  name: "renameSection",
  document: Rename,
  payload: (data) => data.renameSection,
});

// The section goes below one section or, if it is null, above the other.
interface SectionPlace {
  sectionId: string;
  beforeSectionId: string | null;
  afterSectionId: string | null;
}

export const reorderSection = defineChange<SectionPlace, ReorderSectionMutation>({
  name: "reorderSection",
  document: Reorder,
  payload: (data) => data.reorderSection,
  update: (cache, { reorderSection: done }, { sectionId }) => {
    if (done?.board) putBelow(cache, done.board.id, sectionId, done.aboveSection?.id ?? null);
  },
});

export const deleteSection = defineChange<{ sectionId: string }, DeleteSectionMutation>({
  name: "deleteSection",
  document: Delete,
  payload: (data) => data.deleteSection,
  update: (cache, { deleteSection: done }, { sectionId }) => {
    if (done?.board) editSections(cache, done.board.id, (edges) => without(edges, `Section:${sectionId}`));
    cache.evict({ id: `Section:${sectionId}` });
    cache.gc();
  },
});

export const movePinToSection = defineChange<{ pinId: string; sectionId: string | null }, MovePinToSectionMutation>({
  name: "movePinToSection",
  document: Move,
  payload: (data) => data.movePinToSection,
  update: (cache, { movePinToSection: done }, { pinId }) => {
    if (!done || done.fromSection?.id === done.toSection?.id) return; // the pin stays at its place
    if (done.fromSection) editPinsIn(cache, done.fromSection.id, (edges) => without(edges, `Pin:${pinId}`));
    if (done.toSection) enterSection(cache, done.toSection.id, pinId);
  },
});

// Puts a pin on top of a section's list. The answer of the mutation has the section's count.
export function enterSection(cache: ApolloCache, sectionId: string, pinId: string): void {
  const node = { __ref: `Pin:${pinId}` };
  editPinsIn(cache, sectionId, (edges) => [{ __typename: "PinEdge", node }, ...without(edges, node.__ref)]);
}

// Takes a pin that left its board off the board's sections.
export function leaveSections(cache: ApolloCache, boardId: string, pinId: string): void {
  const pin = `Pin:${pinId}`;
  editSections(cache, boardId, (sections) => {
    for (const { node } of sections) {
      if (!node) continue;
      let found = false;
      editPinsIn(cache, node.__ref.slice("Section:".length), (edges) => {
        const rest = without(edges, pin);
        found = rest.length < edges.length;
        return rest;
      });
      if (found) cache.modify<{ pinCount: number }>({ id: node.__ref, fields: { pinCount: (count) => count - 1 } });
    }
    return sections;
  });
}

// Puts a section directly below another, or on top with null. A section whose neighbor was not
// loaded leaves the list: its place is further down.
function putBelow(cache: ApolloCache, boardId: string, sectionId: string, aboveId: string | null): void {
  const node = { __ref: `Section:${sectionId}` };
  editSections(cache, boardId, (edges) => {
    const rest = without(edges, node.__ref);
    const place = aboveId === null ? 0 : rest.findIndex((edge) => edge.node?.__ref === `Section:${aboveId}`) + 1;
    if (aboveId !== null && place === 0) return rest;
    return [...rest.slice(0, place), { __typename: "SectionEdge", node }, ...rest.slice(place)];
  });
}

const without = (edges: StoredEdge[], ref: string) => edges.filter((edge) => edge.node?.__ref !== ref);

function editSections(cache: ApolloCache, boardId: string, edit: (edges: StoredEdge[]) => StoredEdge[]): void {
  cache.modify<{ sections: StoredConnection }>({
    id: cache.identify({ __typename: "Board", id: boardId }),
    fields: {
      sections: (known) => ({ ...known, edges: edit((known as StoredConnection).edges) }) as StoredConnection,
    },
  });
}

function editPinsIn(cache: ApolloCache, sectionId: string, edit: (edges: StoredEdge[]) => StoredEdge[]): void {
  cache.modify<{ pins: StoredConnection }>({
    id: cache.identify({ __typename: "Section", id: sectionId }),
    fields: {
      pins: (known) => ({ ...known, edges: edit((known as StoredConnection).edges) }) as StoredConnection,
    },
  });
}
