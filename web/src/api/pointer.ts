// Whether the main pointer can hover over a card without pressing it. A finger can't: a card's
// buttons are then below its picture, and need their own space.
export const canHover = matchMedia("(hover: hover)").matches;

// The height of a card below its picture, in pixels: style.css sets the same heights. A finger needs
// a higher link to the owner.
const WORDS = canHover ? 66 : 84;
const REASON = 20;
const TOOLS = 44;

export function belowPicture(withReason: boolean): number {
  return WORDS + (withReason ? REASON : 0) + (canHover ? 0 : TOOLS);
}
