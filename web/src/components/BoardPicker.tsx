// The boards to which the viewer may save, to choose from, and a field that creates a new board.
import { useQuery } from "@apollo/client/react";
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { createBoard } from "../changes/boards";
import { graphql } from "../gen";

const MyBoards = graphql(`
  query MyBoards {
    viewer {
      id
      boards(first: 100) {
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
      collaboratingBoards(first: 100) {
        edges {
          node {
            id
            ...BoardCard
          }
        }
      }
    }
  }
`);

interface Props {
  except?: string;
  // Also the boards of other users on which the viewer collaborates.
  shared?: boolean;
  onChoose: (boardId: string, name: string, isNew: boolean) => void;
}

export function BoardPicker({ except, shared = false, onChoose }: Props) {
  const { data, loading } = useQuery(MyBoards);
  const [name, setName] = useState("");
  const others = shared ? (data?.viewer?.collaboratingBoards?.edges ?? []) : [];
  const edges = [...(data?.viewer?.boards?.edges ?? []), ...others];
  const boards = edges.flatMap(({ node }) => (node && node.id !== except ? [node] : []));

  const addBoard = async (event: Event) => {
    event.preventDefault();
    const done = await make(createBoard, { name: name.trim(), description: "", secret: false });
    const board = done?.createBoard?.board;
    if (board) onChoose(board.id, board.name, true);
  };

  return (
    <div class="picker">
      <ul class="picker-list" aria-busy={loading}>
        {boards.map((board) => (
          <li key={board.id}>
            <button type="button" onClick={() => onChoose(board.id, board.name, false)}>
              <span>{board.name}</span>
              {board.secret && <span class="badge">Secret</span>}
            </button>
          </li>
        ))}
      </ul>
      <form class="row" onSubmit={(event) => void addBoard(event)}>
        <input
          aria-label="Name of a new board"
          placeholder="New board"
          required
          maxLength={180}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit">Create</button>
      </form>
    </div>
  );
}
