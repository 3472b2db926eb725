// Pins that the viewer hid since the page was loaded. The home feed's later pages come without them;
// the pages that are there already leave them out by this list.
const listeners = new Set<() => void>();

let hidden: ReadonlySet<string> = new Set();

export function hiddenPins(): ReadonlySet<string> {
  return hidden;
}

export function onHidden(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function keepHidden(id: string, isHidden: boolean): void {
  const others = [...hidden].filter((other) => other !== id);
  hidden = new Set(isHidden ? [...others, id] : others);
  for (const listener of listeners) listener();
}
