// Follow or Following: the state of one edge between the viewer and a person or a board.
import { make } from "../api/change";
import { requireSignIn } from "../api/viewer";
import { followBoard, followUser, unfollowBoard, unfollowUser } from "../changes/follow";

interface Props {
  kind: "user" | "board";
  id: string;
  name: string;
  follows: boolean;
}

export function FollowButton({ kind, id, name, follows }: Props) {
  const press = () => {
    if (!requireSignIn()) return;
    if (kind === "user") void (follows ? make(unfollowUser, { userId: id }) : make(followUser, { userId: id }));
    else void (follows ? make(unfollowBoard, { boardId: id }) : make(followBoard, { boardId: id }));
  };
  return (
    <button type="button" class={follows ? "" : "primary"} aria-pressed={follows} onClick={press}>
      {follows ? "Following" : "Follow"}
      <span class="visually-hidden"> {name}</span>
    </button>
  );
}
