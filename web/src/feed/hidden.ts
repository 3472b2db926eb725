// Pins that the viewer hid. The API has no field for them, so only this browser remembers them.
import { announce } from "../components/Toasts";

const KEY = "pinway:hidden";
const MOST = 2_000;
const listeners = new Set<() => void>();

let hidden: ReadonlySet<string> = new Set(read());

export function hiddenPins(): ReadonlySet<string> {
  return hidden;
}

export function onHidden(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function hide(id: string): void {
  const next = cell(id)?.nextElementSibling?.querySelector("a");
  write([...hidden, id]);
  const undo = () => {
    show(id);
    requestAnimationFrame(() => cell(id)?.querySelector("a")?.focus());
  };
  announce("The pin is hidden in this browser.", "done", { label: "Undo", run: undo }, () => next?.focus());
}

function cell(id: string): Element | null {
  return document.querySelector(`[data-pin="${id}"]`);
}

function show(id: string): void {
  write([...hidden].filter((other) => other !== id));
}

function write(ids: string[]): void {
  hidden = new Set(ids.slice(-MOST));
  localStorage.setItem(KEY, JSON.stringify([...hidden]));
  for (const listener of listeners) listener();
}

function read(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.map(String) : [];
  } catch {
    return [];
  }
}
