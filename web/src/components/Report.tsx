// A button that reports something to the operators, and the dialog in which one chooses the reason.
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { requireSignIn } from "../api/viewer";
import { report } from "../changes/reports";
import type { ReportReason } from "../gen/graphql";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import { announce } from "./Toasts";

const REASONS: Record<ReportReason, string> = {
  SPAM: "Spam, advertising or fraud",
  ADULT: "Nudity or sexual content",
  HATE: "Hate against a group of people",
  HARASSMENT: "Harassment of a person",
  VIOLENCE: "Violence or threats",
  MISINFORMATION: "False claims that may do harm",
  COPYRIGHT: "Somebody's work without a permission",
  OTHER: "Something else",
};

interface Props {
  id: string;
  // The reported thing in words, as "this pin".
  what: string;
}

export function Report({ id, what }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => requireSignIn() && setOpen(true)}>
        Report<span class="visually-hidden"> {what}</span>
      </button>
      {open && <ReportDialog id={id} what={what} onClose={() => setOpen(false)} />}
    </>
  );
}

function ReportDialog({ id, what, onClose }: Props & { onClose: () => void }) {
  const [reason, choose] = useState<ReportReason | null>(null);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    if (!reason) return;
    setBusy(true);
    const done = await make(report, { id, reason, text });
    setBusy(false);
    if (!done) return;
    onClose();
    announce("Thank you: the report is sent.");
  };
  return (
    <Dialog title={`Report ${what}`} onClose={onClose}>
      <form onSubmit={(event) => void send(event)}>
        <fieldset class="reasons">
          <legend>Why? Only the people who run this site see your report.</legend>
          {(Object.keys(REASONS) as ReportReason[]).map((each) => (
            <label key={each}>
              <input type="radio" name="reason" required checked={reason === each} onChange={() => choose(each)} />
              {REASONS[each]}
            </label>
          ))}
        </fieldset>
        <Field label="More about it, if you like" value={text} onChange={setText} lines={3} />
        <p class="row">
          <button type="submit" class="primary" disabled={busy}>
            Send
          </button>
        </p>
      </form>
    </Dialog>
  );
}
