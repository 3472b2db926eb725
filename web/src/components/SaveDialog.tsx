// Saves a pin to one of the viewer's boards, or into a section of the board.
import { make } from "../api/change";
import { requireSignIn } from "../api/viewer";
import { repin } from "../changes/pins";
import { useEffect } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { Dialog } from "./Dialog";
import { type Place, PlacePicker } from "./PlacePicker";
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

  const save = async ({ boardId, board, section }: Place) => {
    onClose();
    const done = await make(repin, { pinId, boardId, sectionId: section?.id ?? null });
    if (done?.repin?.pin) {
      announce(`Saved to ${section?.name ?? board}.`, "done", [{ label: "Show", run: () => navigate(`/board/${boardId}`) }]);
    }
  };

  return (
    <Dialog title={`Save ${title || "this pin"} to…`} onClose={onClose}>
      <PlacePicker onChoose={(place) => void save(place)} />
    </Dialog>
  );
}
