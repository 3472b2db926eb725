// A modal dialog. The browser's dialog element keeps the focus inside. Afterwards the focus returns to
// the element that had it. `onClose` takes the dialog from the page, which closes it. The browser tells
// of a dialog that it closed itself in a later task: by then the user may have opened another one.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const left = useRef(false);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A dialog that is removed from the page while it is open does not return the focus.
    return () => {
      left.current = true;
      element?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        if (event.target !== dialog.current) return; // a choice of files inside
        event.preventDefault();
        onClose(); // Escape
      }}
      onClose={() => {
        if (!left.current) onClose(); // the browser may close a dialog without asking
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose(); // the backdrop
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="icon" onClick={onClose}>
            <span aria-hidden="true">✕</span>
            <span class="visually-hidden">Close</span>
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
