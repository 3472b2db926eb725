// Saves a pin to one of the viewer's boards.
import { make } from "../api/change";
import { requireSignIn } from "../api/viewer";
import { repin } from "../changes/pins";
import { useEffect } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { BoardPicker } from "./BoardPicker";
import { Dialog } from "./Dialog";
import { announce } from "./Toasts";
import { session } from "../api/viewer";

interface Props {
  pinId: string;
  title: string;
  onClose: () => void;
}

export function SaveDialog({ pinId, title, onClose }: Props) {
  useEffect(() => {
    if (!requireSignIn()) onClose();
  }, []);
  if (!session) return null;

  const save = async (boardId: string, name: string) => {
    onClose();
    const done = await make(repin, { pinId, boardId });
    if (done) {
      announce(`Saved to ${name}.`, "done", [{ label: "Show", run: () => navigate(`/board/${boardId}`) }]);
    }
  };

  return (
    <Dialog title={`Save ${title || "this pin"} to…`} onClose={onClose}>
      <BoardPicker shared onChoose={(id, name) => void save(id, name)} />
    </Dialog>
  );
}
