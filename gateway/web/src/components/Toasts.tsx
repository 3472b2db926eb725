// Short messages at the edge of the page, read out by screen readers.
import { useEffect, useRef, useState } from "preact/hooks";
import { isFocusLost } from "../focus";

export interface Toast {
  text: string;
  kind: "done" | "error";
  action?: { label: string; run: () => void };
  // Takes the focus when the message goes away with it.
  next?: () => void;
}

const SECONDS = 8;
const listeners = new Set<(toast: Toast) => void>();

export function announce(text: string, kind: Toast["kind"] = "done", action?: Toast["action"], next?: Toast["next"]): void {
  for (const listener of listeners) listener({ text, kind, action, next });
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
    // What the message tells of may have taken the focus along: it goes on with the message.
    if (toast?.next && isFocusLost()) button.current?.focus();
  }, [toast]);
  useEffect(() => {
    if (!toast || held) return; // nobody has to be quick
    const timer = setTimeout(() => show(null), SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [toast, held]);
  const close = () => {
    hold(false);
    show(null);
  };
  const onKey = (event: KeyboardEvent) => {
    if (!toast?.next || (event.key !== "Escape" && event.key !== "Tab")) return;
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
          {toast.action && (
            <button
              type="button"
              ref={button}
              onClick={() => {
                toast.action?.run();
                close();
              }}
            >
              {toast.action.label}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
