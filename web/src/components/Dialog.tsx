// A modal dialog. The browser's dialog element keeps the focus inside, and closes with Escape.
// Afterwards the focus returns to the element that had it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A dialog that is removed from the page while it is open does not return the focus.
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close(); // the backdrop
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="icon" onClick={() => dialog.current?.close()}>
            <span aria-hidden="true">✕</span>
            <span class="visually-hidden">Close</span>
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
