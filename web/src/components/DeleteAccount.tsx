// A dialog that deletes the viewer's account, after the user name was typed.
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { endSession } from "../api/session";
import { deleteAccount } from "../changes/account";
import { Dialog } from "./Dialog";
import { Field } from "./Field";

interface Props {
  username: string;
  onClose: () => void;
}

export function DeleteAccount({ username, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const remove = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const done = await make(deleteAccount, { username: typed });
    setBusy(false);
    if (done) endSession();
  };
  return (
    <Dialog title="Delete your account" onClose={onClose}>
      <form onSubmit={(event) => void remove(event)}>
        <p>
          Your boards, pins, comments, likes and follows go with it, at once and for good. Repins that others made of
          your pins stay.
        </p>
        <Field label={`Type ${username} to go on`} value={typed} onChange={setTyped} required />
        <p class="row">
          <button type="submit" disabled={busy || typed.trim().toLowerCase() !== username}>
            Delete account
          </button>
        </p>
      </form>
    </Dialog>
  );
}
