// Follow or Following: the state of one edge between the viewer and a person or a board.
import { make } from "../api/change";
import { requireSignIn } from "../api/viewer";
import { followBoard, followUser, unfollowBoard, unfollowUser } from "../changes/follow";

interface Props {
  kind: "user" | "board";
  id: string;
  name: string;
  follows: boolean;
  // Called when the gateway has made the change.
  onChanged?: () => void;
}

export function FollowButton({ kind, id, name, follows, onChanged }: Props) {
  const press = () => {
    if (!requireSignIn()) return;
    void change(kind, id, follows).then((done) => done && onChanged?.());
  };
  return (
    <button type="button" class={follows ? "" : "primary"} aria-pressed={follows} onClick={press}>
      {follows ? "Following" : "Follow"}
      <span class="visually-hidden"> {name}</span>
    </button>
  );
}

function change(kind: Props["kind"], id: string, follows: boolean): Promise<object | null> {
  if (kind === "user") return follows ? make(unfollowUser, { userId: id }) : make(followUser, { userId: id });
  return follows ? make(unfollowBoard, { boardId: id }) : make(followBoard, { boardId: id });
}
