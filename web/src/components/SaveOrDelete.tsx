// The end of a form that edits something: a button that saves it, and one that deletes it after a question.
import { useState } from "preact/hooks";

interface Props {
  // What is deleted, as in "the board".
  what: string;
  question: string;
  onDelete: () => void;
}

export function SaveOrDelete({ what, question, onDelete }: Props) {
  const [asked, ask] = useState(false);
  return (
    <>
      <p class="row">
        <button type="submit" class="primary">
          Save
        </button>
        {!asked && (
          <button type="button" onClick={() => ask(true)}>
            Delete {what}
          </button>
        )}
      </p>
      {asked && (
        <p class="row" role="alert">
          <span>{question}</span>
          <button type="button" onClick={onDelete}>
            Delete
          </button>
          <button type="button" onClick={() => ask(false)}>
            Keep
          </button>
        </p>
      )}
    </>
  );
}
