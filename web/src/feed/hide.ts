// Hides a pin of the home feed, and offers to undo it or to show less of the pin's owner.
import { make } from "../api/change";
import { hidePin, seeAsUsual, seeLess, unhidePin } from "../changes/preferences";
import { announce } from "../components/Toasts";
import { keepHidden } from "./hidden";

interface Owner {
  id: string;
  name: string;
}

let writes = Promise.resolve();

export function hide(id: string, owner: Owner | null): void {
  const next = cell(id)?.nextElementSibling?.querySelector("a");
  keepHidden(id, true);
  void inOrder(async () => {
    if (!(await make(hidePin, { pinId: id }))) show(id);
  });
  const undo = () => {
    show(id);
    void inOrder(async () => {
      if (!(await make(unhidePin, { pinId: id }))) keepHidden(id, true);
    });
  };
  const actions = [{ label: "Undo", run: undo }];
  if (owner) actions.push({ label: `Less from ${owner.name}`, run: () => void less(owner) });
  announce("The pin is hidden.", "done", actions, () => next?.focus());
}

async function less({ id, name }: Owner): Promise<void> {
  if (!(await make(seeLess, { id }))) return;
  const undo = () => void make(seeAsUsual, { id });
  announce(`Your home feed will show less from ${name}.`, "done", [{ label: "Undo", run: undo }]);
}

// Writes one after the other: an undo must not arrive before the hiding that it undoes.
function inOrder(write: () => Promise<void>): Promise<void> {
  writes = writes.then(write);
  return writes;
}

function cell(id: string): Element | null {
  return document.querySelector(`[data-pin="${id}"]`);
}

function show(id: string): void {
  keepHidden(id, false);
  requestAnimationFrame(() => cell(id)?.querySelector("a")?.focus());
}
