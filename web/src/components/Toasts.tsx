// Short messages at the edge of the page, read out by screen readers.
import { useEffect, useRef, useState } from "preact/hooks";
import { isFocusLost } from "../focus";

export interface Toast {
  text: string;
  kind: "done" | "error";
  actions?: { label: string; run: () => void }[];
  // Gets the focus when the message disappears while it has the focus.
  next?: () => void;
}

const SECONDS = 8;
const listeners = new Set<(toast: Toast) => void>();

export function announce(
  text: string,
  kind: Toast["kind"] = "done",
  actions?: Toast["actions"],
  next?: Toast["next"],
): void {
  for (const listener of listeners) listener({ text, kind, actions, next });
}

export function Toasts() {
  const [toast, show] = useState<Toast | null>(null);
  const [held, hold] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    listeners.add(show);
    return () => void listeners.delete(show);
  }, []);
  useEffect(() => {
    // The element that the message is about may have disappeared with the focus: the message gets it.
    if (toast?.next && isFocusLost()) button.current?.focus();
  }, [toast]);
  useEffect(() => {
    if (!toast || held) return; // the message stays while it has the pointer or the focus
    const timer = setTimeout(() => show(null), SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [toast, held]);
  const close = () => {
    hold(false);
    show(null);
  };
  const onKey = (event: KeyboardEvent) => {
    if (!toast?.next || (event.key !== "Escape" && event.key !== "Tab")) return;
    const last = (event.currentTarget as Element).lastElementChild;
    if (event.key === "Tab" && !event.shiftKey && event.target !== last) return; // to the next action
    event.preventDefault();
    toast.next();
    close();
  };
  return (
    <div class="toasts" role="status">
      {toast && (
        <div
          class={`toast ${toast.kind}`}
          onFocusIn={() => hold(true)}
          onFocusOut={() => hold(false)}
          onKeyDown={onKey}
        >
          <span>{toast.text}</span>
          {toast.actions?.map(({ label, run }, place) => (
            <button
              key={label}
              type="button"
              ref={place === 0 ? button : undefined}
              onClick={() => {
                close(); // first: an action may show the next message
                run();
              }}
            >
              {label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
