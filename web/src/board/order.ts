// The order of a board's pins, as pure functions: where pins land, and how a drop is described.

export interface Placing {
  pinIds: string[];
  beforePinId: string | null;
  afterPinId: string | null;
}

// The list with the named pins together at the given place, as `reorderPins` puts them. A list
// without both anchors (the place is further down than was loaded) loses the pins.
export function placed<T>(list: T[], idOf: (item: T) => string | undefined, placing: Placing): T[] {
  const byId = new Map(list.map((item) => [idOf(item), item]));
  const moved = placing.pinIds.flatMap((id) => byId.get(id) ?? []);
  const gone = new Set(placing.pinIds);
  const rest = list.filter((item) => !gone.has(idOf(item) ?? ""));
  const { beforePinId: above, afterPinId: below } = placing;
  const find = (id: string) => rest.findIndex((item) => idOf(item) === id);
  let place = 0;
  if (above !== null) {
    place = find(above) + 1;
    if (place === 0) return rest;
  } else if (below !== null) {
    place = find(below);
    if (place < 0) return rest;
  }
  return [...rest.slice(0, place), ...moved, ...rest.slice(place)];
}

// The input that describes a drop of these pins among the others. One anchor is enough. The pin
// above is used, because other users may put pins below it in the meantime.
export function dropAt(ids: string[], moved: string[], place: number): Placing {
  const gone = new Set(moved);
  const rest = ids.filter((id) => !gone.has(id));
  const above = rest[place - 1] ?? null;
  return { pinIds: moved, beforePinId: above, afterPinId: above === null ? (rest[0] ?? null) : null };
}
