// A modal dialog: the browser's own keeps the focus inside and closes with Escape. The focus goes
// back to where it was, also when the dialog is taken out of the page without being closed.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isFocusLost } from "../focus";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && isFocusLost()) before.focus({ preventScroll: true });
    };
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
