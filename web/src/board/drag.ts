// Dragging pins of a board with a pointer: the dragged pins, and the place where they would land.
import { useEffect, useRef, useState } from "preact/hooks";

export interface Drag {
  moved: string[];
  // The number of other pins above the new place.
  place: number;
  // The pointer's position in the window.
  x: number;
  y: number;
}

const EDGE = 70; // pixels from the window's edge within which dragging scrolls the page
const STARTS_AFTER = 6; // pixels: less is a click

// `drop` is called once, when the pointer is released over a place.
export function useDrag(ids: string[], drop: (drag: Drag) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const latest = useRef({ ids, drop });
  latest.current = { ids, drop };
  const ended = useRef<() => void>(() => {});
  useEffect(() => () => ended.current(), []);

  // Listens from here on, not from an effect: a quick user releases the pin before an effect runs.
  const begin = (event: PointerEvent, moved: string[]) => {
    if (event.button !== 0) return;
    ended.current();
    const { clientX, clientY } = event;
    let current: Drag | null = null;
    const listening = new AbortController();
    const on = <K extends keyof WindowEventMap>(name: K, act: (event: WindowEventMap[K]) => void) =>
      addEventListener(name, act, { signal: listening.signal });
    const end = () => {
      clearInterval(scroller);
      listening.abort();
      setDrag(null);
    };
    // Holding the pointer near the window's edge scrolls to the pins beyond it.
    const scroller = setInterval(() => {
      if (!current) return;
      const below = current.y - (innerHeight - EDGE);
      const above = EDGE - current.y;
      if (below > 0) scrollBy(0, below / 4);
      else if (above > 0) scrollBy(0, -above / 4);
    }, 16);
    ended.current = end;

    on("pointermove", (move) => {
      const far = Math.hypot(move.clientX - clientX, move.clientY - clientY) > STARTS_AFTER;
      if (!far && !current) return;
      const place = placeAt(move, latest.current.ids, moved) ?? current?.place;
      if (place === undefined) return;
      current = { moved, place, x: move.clientX, y: move.clientY };
      setDrag(current);
    });
    on("pointerup", () => {
      const dropped = current;
      end();
      if (!dropped) return;
      swallowNextClick();
      latest.current.drop(dropped);
    });
    on("pointercancel", end);
    on("keydown", (key) => {
      if (key.key === "Escape") end();
    });
  };
  return { drag, begin };
}

// The place under the pointer: above or below the pin there, depending on the pin's half.
function placeAt({ clientX, clientY }: PointerEvent, ids: string[], moved: string[]): number | null {
  for (const element of document.elementsFromPoint(clientX, clientY)) {
    const cell = element.closest<HTMLElement>("[data-pin]");
    const id = cell?.dataset["pin"];
    if (!cell || !id) continue;
    const rest = ids.filter((other) => !moved.includes(other));
    const place = rest.indexOf(id);
    if (place < 0) return null;
    const { left, width } = cell.getBoundingClientRect();
    return clientX < left + width / 2 ? place : place + 1;
  }
  return null;
}

// The end of a drag is also a click on the link below the pointer.
function swallowNextClick(): void {
  const stop = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", stop, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }));
}
