// A heart with the number of likes. Pressing it again removes the like.
import { make } from "../api/change";
import { requireSignIn } from "../api/viewer";
import { like, unlike } from "../changes/like";

interface Props {
  id: string;
  title: string;
  likeCount: number;
  liked: boolean;
}

export function LikeButton({ id, title, likeCount, liked }: Props) {
  const press = () => {
    if (requireSignIn()) void (liked ? make(unlike, { pinId: id }) : make(like, { pinId: id }));
  };
  return (
    <button type="button" class="icon like" aria-pressed={liked} onClick={press} title={liked ? "Unlike" : "Like"}>
      <span aria-hidden="true">{liked ? "♥" : "♡"} {likeCount || ""}</span>
      <span class="visually-hidden">
        Like {title} ({likeCount} {likeCount === 1 ? "like" : "likes"})
      </span>
    </button>
  );
}
