// A board in a list of boards: its newest pictures, name and size.
import { Link } from "wouter-preact";
import { graphql } from "../gen";
import type { BoardCardFragment } from "../gen/graphql";
import { Picture } from "./Picture";

export const BoardCardDocument = graphql(`
  fragment BoardCard on Board {
    id
    name
    secret
    pinCount
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
`);

export function BoardCard({ board }: { board: BoardCardFragment }) {
  return (
    <Link href={`/board/${board.id}`} class="board-card">
      <Picture image={board.cover?.image} alt="" />
      <span class="board-name">
        {board.name} {board.secret && <span class="badge">Secret</span>}
      </span>
      <span class="quiet">
        {board.pinCount} {board.pinCount === 1 ? "pin" : "pins"}
      </span>
    </Link>
  );
}
