// Creates a pin from an address, saves a pin to a board, moves and deletes pins.
import type { ApolloCache } from "@apollo/client";
import { graphql } from "../gen";
import type {
  CreatePinMutation,
  DeletePinMutation,
  MovePinMutation,
  RepinMutation,
} from "../gen/graphql";
import { defineChange } from "../api/change";
import { editPins } from "./boards";
import { expectInFeeds } from "./follow";
import { enterSection, leaveSections } from "./sections";

const CreatePin = graphql(`
  mutation CreatePin($input: CreatePinInput!) {
    createPin(input: $input) {
      feedToken
      pin {
        id
        ...PinCard
        section {
          id
          name
          pinCount
        }
      }
      board {
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

const Repin = graphql(`
  mutation Repin($input: RepinInput!) {
    repin(input: $input) {
      feedToken
      pin {
        id
        ...PinCard
        section {
          id
          name
          pinCount
        }
      }
      board {
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

const MovePin = graphql(`
  mutation MovePin($input: MovePinInput!) {
    movePin(input: $input) {
      feedToken
      pin {
        id
        board {
          id
          name
        }
      }
      fromBoard {
        id
        pinCount
      }
      toBoard {
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

const DeletePin = graphql(`
  mutation DeletePin($input: DeletePinInput!) {
    deletePin(input: $input) {
      deletedPinId
      board {
        id
        pinCount
      }
      errors {
        message
      }
    }
  }
`);

export interface NewPin {
  boardId: string;
  sectionId: string | null;
  title: string;
  link: string | null;
  image: { url: string; width: number | null; height: number | null; dominantColor: string | null } | null;
}

export const createPin = defineChange<NewPin, CreatePinMutation>({
  name: "createPin",
  document: CreatePin,
  payload: (data) => data.createPin,
  update: (cache, { createPin: done }, { boardId }) => {
    if (done?.pin) putOnTop(cache, boardId, done.pin.id, done.pin.section?.id);
    expectInFeeds(done?.feedToken);
  },
});

interface Copy {
  pinId: string;
  boardId: string;
  sectionId: string | null;
}

export const repin = defineChange<Copy, RepinMutation>({
  name: "repin",
  document: Repin,
  payload: (data) => data.repin,
  update: (cache, { repin: done }, { boardId }) => {
    if (done?.pin) putOnTop(cache, boardId, done.pin.id, done.pin.section?.id);
    expectInFeeds(done?.feedToken);
  },
});

export const movePin = defineChange<{ pinId: string; boardId: string }, MovePinMutation>({
  name: "movePin",
  document: MovePin,
  payload: (data) => data.movePin,
  update: (cache, { movePin: done }, { pinId, boardId }) => {
    if (done?.fromBoard) takeOff(cache, done.fromBoard.id, pinId);
    putOnTop(cache, boardId, pinId);
  },
});

export const deletePin = defineChange<{ pinId: string }, DeletePinMutation>({
  name: "deletePin",
  document: DeletePin,
  payload: (data) => data.deletePin,
  update: (cache, { deletePin: done }, { pinId }) => {
    if (done?.board) takeOff(cache, done.board.id, pinId);
  },
});

function putOnTop(cache: ApolloCache, boardId: string, pinId: string, sectionId?: string): void {
  const node = { __ref: `Pin:${pinId}` };
  editPins(cache, boardId, (edges) => [
    { __typename: "PinEdge", node },
    ...edges.filter((edge) => edge.node?.__ref !== node.__ref),
  ]);
  if (sectionId) enterSection(cache, sectionId, pinId);
}

function takeOff(cache: ApolloCache, boardId: string, pinId: string): void {
  leaveSections(cache, boardId, pinId);
  editPins(cache, boardId, (edges) => edges.filter((edge) => edge.node?.__ref !== `Pin:${pinId}`));
}
