// An invitation to a board, with its two answers.
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { make } from "../api/change";
import { acceptInvitation, declineInvitation } from "../changes/members";

interface Props {
  boardId: string;
  boardName: string;
}

export function Invitation({ boardId, boardName }: Props) {
  const [answer, say] = useState<"accepted" | "declined" | null>(null);
  const accept = async () => {
    if (await make(acceptInvitation, { boardId })) say("accepted");
  };
  const decline = async () => {
    if (await make(declineInvitation, { boardId })) say("declined");
  };
  if (answer === "accepted") {
    return (
      <>
        invited you to the board <Link href={`/board/${boardId}`}>{boardName}</Link>. You are a collaborator now.
      </>
    );
  }
  if (answer === "declined") return <>invited you to the board {boardName}. You declined.</>;
  return (
    <>
      invites you to the board {boardName}
      <span class="row">
        <button type="button" class="primary" onClick={() => void accept()}>
          Accept<span class="visually-hidden"> the invitation to {boardName}</span>
        </button>
        <button type="button" onClick={() => void decline()}>
          Decline<span class="visually-hidden"> the invitation to {boardName}</span>
        </button>
      </span>
    </>
  );
}
