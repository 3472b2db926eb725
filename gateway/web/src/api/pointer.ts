// Whether the main pointer can rest on a card without pressing it. A finger can't: a card's buttons
// then stand below its picture, where they take room of their own.
export const canHover = matchMedia("(hover: hover)").matches;

// The height of a card below its picture, in pixels: style.css sets the same heights.
const WORDS = 66;
const REASON = 20;
const TOOLS = 44;

export function belowPicture(withReason: boolean): number {
  return WORDS + (withReason ? REASON : 0) + (canHover ? 0 : TOOLS);
}
