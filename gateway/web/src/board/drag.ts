// Dragging pins of a board with a pointer: what is dragged, and where it would land.
import { useEffect, useState } from "preact/hooks";

export interface Drag {
  moved: string[];
  // How many of the other pins are above the new place.
  place: number;
}

const STARTS_AFTER = 6; // pixels: less is a click

interface Grip {
  moved: string[];
  x: number;
  y: number;
}

// `drop` is called once, when the pointer is released over a place.
export function useDrag(ids: string[], drop: (drag: Drag) => void) {
  const [grip, take] = useState<Grip | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);

  useEffect(() => {
    if (!grip) return;
    let current: Drag | null = null;
    const onMove = (event: PointerEvent) => {
      const far = Math.hypot(event.clientX - grip.x, event.clientY - grip.y) > STARTS_AFTER;
      if (!far && !current) return;
      const place = placeAt(event, ids, grip.moved) ?? current?.place;
      if (place === undefined) return;
      current = { moved: grip.moved, place };
      setDrag(current);
    };
    const end = () => {
      take(null);
      setDrag(null);
    };
    const onUp = () => {
      if (current) {
        swallowNextClick();
        drop(current);
      }
      end();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") end();
    };
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", onUp);
    addEventListener("pointercancel", end);
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", onUp);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", onKey);
    };
  }, [grip]);

  const begin = (event: PointerEvent, moved: string[]) => {
    if (event.button === 0) take({ moved, x: event.clientX, y: event.clientY });
  };
  return { drag, begin };
}

// The place under the pointer: above or below the pin there, by the half that the pointer is in.
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

// A released drag is also a click on the link below the pointer.
function swallowNextClick(): void {
  const stop = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", stop, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }));
}
