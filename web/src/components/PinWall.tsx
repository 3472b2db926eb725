// A wall of the pins in a list of the cache: pages of a profile, related pins.
import { useMemo } from "preact/hooks";
import { ratioOf } from "../api/images";
import { belowPicture } from "../api/pointer";
import { Masonry, type Tile } from "./Masonry";
import { PinCard } from "./PinCard";

export interface PinEdge {
  // Null for pins whose server does not answer.
  node: { id: string; image: { width: number | null; height: number | null } | null } | null;
}

interface Props {
  label: string;
  edges: PinEdge[];
  onEnd: () => void;
}

export function PinWall({ label, edges, onEnd }: Props) {
  const tiles = useMemo(
    () =>
      edges.map(({ node }, place): Tile => ({ id: node?.id ?? `away-${place}`, ratio: ratioOf(node?.image ?? null) })),
    [edges],
  );
  return <Masonry label={label} tiles={tiles} below={belowPicture(false)} onEnd={onEnd} card={({ id }) => <PinCard id={id} />} />;
}
