// Short messages at the edge of the page, read out by screen readers.
import { useEffect, useState } from "preact/hooks";

export interface Toast {
  text: string;
  kind: "done" | "error";
  action?: { label: string; run: () => void };
}

const SECONDS = 8;
const listeners = new Set<(toast: Toast) => void>();

export function announce(text: string, kind: Toast["kind"] = "done", action?: Toast["action"]): void {
  for (const listener of listeners) listener({ text, kind, action });
}

export function Toasts() {
  const [toast, show] = useState<Toast | null>(null);
  useEffect(() => {
    listeners.add(show);
    return () => void listeners.delete(show);
  }, []);
  useEffect(() => {
    if (!toast) return;
    const timer = setTimeout(() => show(null), SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <div class="toasts" role="status">
      {toast && (
        <div class={`toast ${toast.kind}`}>
          <span>{toast.text}</span>
          {toast.action && (
            <button
              type="button"
              onClick={() => {
                toast.action?.run();
                show(null);
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
