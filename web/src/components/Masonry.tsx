// A wall of pins in columns. Only the cards near the window are in the document, so that thousands
// of pins scroll as smoothly as fifty.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

export interface Tile {
  id: string;
  ratio: number;
}

interface Props<T extends Tile> {
  label: string;
  tiles: T[];
  // The height of a card below its picture, in pixels; the style sheet has the same height.
  below: number;
  // Called when the end of the wall is near, and again after each change of the tiles.
  onEnd: () => void;
  card: (tile: T, place: number) => ComponentChildren;
}

interface Placed {
  x: number;
  y: number;
  height: number;
}

const GAP = 16;
const COLUMN = 236;
const AHEAD = 900; // pixels above and below the window in which cards are drawn
const STEP = 200; // pixels

export function Masonry<T extends Tile>({ label, tiles, below, onEnd, card }: Props<T>) {
  const wall = useRef<HTMLUListElement>(null);
  const [width, setWidth] = useState(0);
  const [view, setView] = useState({ top: 0, height: 0 });

  useLayoutEffect(() => {
    const element = wall.current as HTMLUListElement;
    let frame = 0;
    const look = () => {
      frame = 0;
      const { top } = element.getBoundingClientRect();
      setWidth(element.clientWidth);
      setView((known) => (known.top === -top && known.height === innerHeight ? known : { top: -top, height: innerHeight }));
    };
    const soon = () => {
      frame ||= requestAnimationFrame(look);
    };
    const watcher = new ResizeObserver(soon);
    watcher.observe(element);
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    look();
    return () => {
      cancelAnimationFrame(frame);
      watcher.disconnect();
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, []);

  const columns = Math.max(2, Math.floor((width + GAP) / (COLUMN + GAP)));
  const column = Math.floor((width - GAP * (columns - 1)) / columns);
  const { places, height } = useMemo(
    () => lay(tiles, columns, column, below),
    [tiles, columns, column, below],
  );

  // The window's position in steps: scrolling by less redraws nothing.
  const from = Math.floor(view.top / STEP) * STEP - AHEAD;
  const to = Math.ceil((view.top + view.height) / STEP) * STEP + AHEAD;
  const seen = useMemo(
    () => [...places.keys()].filter((index) => overlaps(places[index] as Placed, from, to)),
    [places, from, to],
  );

  const nearEnd = width > 0 && view.top + view.height + AHEAD > height;
  useEffect(() => {
    if (nearEnd) onEnd();
  }, [nearEnd, tiles, onEnd]);

  return (
    <ul ref={wall} class="wall" aria-label={label} style={{ height: `${height}px` }}>
      {width > 0 &&
        seen.map((index) => {
          const tile = tiles[index] as T;
          const place = places[index] as Placed;
          return (
            <li
              key={tile.id}
              data-pin={tile.id}
              style={{
                transform: `translate(${place.x}px, ${place.y}px)`,
                width: `${column}px`,
                height: `${place.height}px`,
              }}
            >
              {card(tile, index)}
            </li>
          );
        })}
    </ul>
  );
}

function overlaps({ y, height }: Placed, from: number, to: number): boolean {
  return y + height > from && y < to;
}

// Each tile goes to the shortest column. Earlier tiles never move when tiles are added.
function lay(tiles: Tile[], columns: number, column: number, below: number) {
  const ends = new Array<number>(columns).fill(0);
  const places = tiles.map((tile): Placed => {
    const at = ends.indexOf(Math.min(...ends));
    const height = Math.round(column * tile.ratio) + below;
    const place = { x: at * (column + GAP), y: ends[at] as number, height };
    ends[at] = place.y + height + GAP;
    return place;
  });
  return { places, height: Math.max(0, ...ends) };
}
