// Notes the cards that were on the screen for a second, at least half of each.
import { useEffect, useRef } from "preact/hooks";
import { note } from "../changes/events";

const LONG_ENOUGH = 1_000; // ms

const pins = new Map<Element, string>();
const timers = new Map<Element, number>();

const observer = new IntersectionObserver(
  (changes) => {
    for (const { target, isIntersecting } of changes) {
      forget(target);
      if (isIntersecting) timers.set(target, window.setTimeout(() => see(target), LONG_ENOUGH));
    }
  },
  { threshold: 0.5 },
);

function see(card: Element): void {
  timers.delete(card);
  if (document.visibilityState === "visible") note("SEEN", pins.get(card) as string);
}

function forget(card: Element): void {
  clearTimeout(timers.get(card));
  timers.delete(card);
}

// Returns the reference for the element that shows the pin.
// `shown`: whether there is such an element yet.
export function useSeen<T extends Element>(pinId: string, shown: boolean) {
  const card = useRef<T>(null);
  useEffect(() => {
    const element = card.current;
    if (!element) return;
    pins.set(element, pinId);
    observer.observe(element);
    return () => {
      observer.unobserve(element);
      forget(element);
      pins.delete(element);
    };
  }, [pinId, shown]);
  return card;
}
