// Mutes or blocks a person, after a question.
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { requireSignIn } from "../api/viewer";
import { blockUser, muteUser, unmuteUser } from "../changes/apart";
import { announce } from "./Toasts";

interface Props {
  id: string;
  name: string;
  muted: boolean;
}

export function KeepApart({ id, name, muted }: Props) {
  const [asked, ask] = useState(false);
  const mute = async () => {
    if (!requireSignIn()) return;
    const done = muted ? await make(unmuteUser, { userId: id }) : await make(muteUser, { userId: id });
    if (!done) return;
    announce(muted ? `Your feeds show pins of ${name} again.` : `Your feeds show no pins of ${name}.`);
  };
  const block = async () => {
    // Nothing that was read before may stay on the page: it begins anew.
    if (await make(blockUser, { userId: id })) location.assign("/");
  };
  return (
    <>
      <p class="row">
        <button type="button" aria-pressed={muted} onClick={() => void mute()}>
          {muted ? "Muted" : "Mute"}
          <span class="visually-hidden"> {name}</span>
        </button>
        {!asked && (
          <button type="button" onClick={() => requireSignIn() && ask(true)}>
            Block<span class="visually-hidden"> {name}</span>
          </button>
        )}
      </p>
      {asked && (
        <p class="row" role="alert">
          <span>Block {name}? You won't see each other anywhere, and don't follow each other any more.</span>
          <button type="button" onClick={() => void block()}>
            Block
          </button>
          <button type="button" onClick={() => ask(false)}>
            Cancel
          </button>
        </p>
      )}
    </>
  );
}
