// Ends the viewer's sessions on all devices, after a question.
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { endSession } from "../api/session";
import { signOutEverywhere } from "../changes/account";

export function SignOutEverywhere() {
  const [asked, ask] = useState(false);
  const signOut = async () => {
    if (await make(signOutEverywhere, {})) endSession();
  };
  if (!asked) {
    return (
      <p>
        <button type="button" onClick={() => ask(true)}>
          Sign out everywhere…
        </button>
      </p>
    );
  }
  return (
    <p class="row" role="alert">
      <span>Sign out on all devices, also on this one?</span>
      <button type="button" onClick={() => void signOut()}>
        Sign out everywhere
      </button>
      <button type="button" onClick={() => ask(false)}>
        Cancel
      </button>
    </p>
  );
}
