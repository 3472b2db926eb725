// Creates, changes and deletes a board; changes the order of a board's pins.
import type { ApolloCache } from "@apollo/client";
import { graphql } from "../gen";
import type {
  CreateBoardMutation,
  DeleteBoardMutation,
  ReorderPinsMutation,
  UpdateBoardMutation,
} from "../gen/graphql";
import type { StoredConnection, StoredEdge } from "../api/cache";
import { defineChange } from "../api/change";
import { placed } from "../board/order";

const CreateBoard = graphql(`
  mutation CreateBoard($input: CreateBoardInput!) {
    createBoard(input: $input) {
      board {
        id
        ...BoardCard
      }
      user {
        id
        boardCount
      }
      errors {
        message
      }
    }
  }
`);

const UpdateBoard = graphql(`
  mutation UpdateBoard($input: UpdateBoardInput!) {
    updateBoard(input: $input) {
      board {
        id
        name
        description
        secret
      }
      errors {
        message
      }
    }
  }
`);

const DeleteBoard = graphql(`
  mutation DeleteBoard($input: DeleteBoardInput!) {
    deleteBoard(input: $input) {
      deletedBoardId
      user {
        id
        boardCount
      }
      errors {
        message
      }
    }
  }
`);

const ReorderPins = graphql(`
  mutation ReorderPins($input: ReorderPinsInput!) {
    reorderPins(input: $input) {
      board {
        id
      }
      orderVersion
      errors {
        message
      }
    }
  }
`);

export interface NewBoard {
  name: string;
  description: string;
  secret: boolean;
}

export const createBoard = defineChange<NewBoard, CreateBoardMutation>({
  name: "createBoard",
  document: CreateBoard,
  payload: (data) => data.createBoard,
  update: (cache, { createBoard: done }) => {
    if (!done?.board || !done.user) return;
    const { id } = done.board;
    cache.modify<{ boards: StoredConnection }>({
      id: cache.identify({ __typename: "User", id: done.user.id }),
      fields: {
        boards: (known, { toReference }) => {
          const node = toReference({ __typename: "Board", id }) ?? null;
          const edge = { __typename: "BoardEdge", node } satisfies StoredEdge;
          const others = (known as StoredConnection).edges.filter((e) => e.node?.__ref !== node?.__ref);
          return { ...known, edges: [edge, ...others] } as StoredConnection;
        },
      },
    });
  },
});

export interface BoardEdit {
  boardId: string;
  name: string;
  description: string;
  secret: boolean;
}

export const updateBoard = defineChange<BoardEdit, UpdateBoardMutation>({
  name: "updateBoard",
  document: UpdateBoard,
  payload: (data) => data.updateBoard,
});

export const deleteBoard = defineChange<{ boardId: string }, DeleteBoardMutation>({
  name: "deleteBoard",
  document: DeleteBoard,
  payload: (data) => data.deleteBoard,
  update: (cache, _data, { boardId }) => {
    cache.evict({ id: cache.identify({ __typename: "Board", id: boardId }) });
    cache.gc();
  },
});

// The pins go, together and in this order, below one pin or, if it is null, above the other.
export interface Order {
  boardId: string;
  pinIds: string[];
  beforePinId: string | null;
  afterPinId: string | null;
}

export const reorder = defineChange<Order, ReorderPinsMutation>({
  name: "reorder",
  document: ReorderPins,
  payload: (data) => data.reorderPins,
  // The answer has no list, so the list is reordered here: at once, and again with the answer.
  optimistic: ({ boardId }) => ({
    reorderPins: {
      __typename: "ReorderPinsPayload",
      board: { __typename: "Board", id: boardId },
      orderVersion: null,
      errors: [],
    },
  }),
  update: (cache, _data, order) => arrange(cache, order),
});

export function arrange(cache: ApolloCache, order: Order): void {
  editPins(cache, order.boardId, (edges) => placed(edges, (edge) => edge.node?.__ref.slice("Pin:".length), order));
}

export function editPins(cache: ApolloCache, boardId: string, edit: (edges: StoredEdge[]) => StoredEdge[]): void {
  cache.modify<{ pins: StoredConnection }>({
    id: cache.identify({ __typename: "Board", id: boardId }),
    fields: {
      pins: (known) => ({ ...known, edges: edit((known as StoredConnection).edges) }) as StoredConnection,
    },
  });
}
