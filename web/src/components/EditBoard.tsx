// A dialog that changes a board of the viewer, or deletes it.
import { useState } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { make } from "../api/change";
import { session } from "../api/viewer";
import { deleteBoard, updateBoard } from "../changes/boards";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import { SaveOrDelete } from "./SaveOrDelete";
import { announce } from "./Toasts";

interface Props {
  board: { id: string; name: string; description: string; secret: boolean; pinCount: number };
  onClose: () => void;
}

export function EditBoard({ board, onClose }: Props) {
  const [name, setName] = useState(board.name);
  const [description, setDescription] = useState(board.description);
  const [secret, setSecret] = useState(board.secret);
  const save = async (event: Event) => {
    event.preventDefault();
    const done = await make(updateBoard, { boardId: board.id, name: name.trim(), description, secret });
    if (!done) return;
    onClose();
    announce("The board is saved.");
  };
  const remove = async () => {
    if (!(await make(deleteBoard, { boardId: board.id }))) return;
    onClose();
    announce(`${board.name} is deleted.`);
    navigate(session ? `/user/${session.username}` : "/");
  };
  const pins = `${board.pinCount} ${board.pinCount === 1 ? "pin" : "pins"}`;
  return (
    <Dialog title="Edit the board" onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <Field label="Name" value={name} onChange={setName} required />
        <Field label="Description" value={description} onChange={setDescription} lines={3} />
        <p>
          <label>
            <input type="checkbox" checked={secret} onChange={(event) => setSecret(event.currentTarget.checked)} /> Secret:
            only you see it
          </label>
        </p>
        <SaveOrDelete
          what="the board"
          question={`Delete the board and its ${pins}? This can't be undone.`}
          onDelete={() => void remove()}
        />
      </form>
    </Dialog>
  );
}
