// The reasons why a pin is in the home feed, as text.
import type { FeedReason } from "../gen/graphql";

export const REASONS: Record<FeedReason, string> = {
  FOLLOWED_USER: "You follow this person",
  FOLLOWED_BOARD: "You follow this board",
  FOLLOWED_INTEREST: "You follow this topic",
  RELATED: "Like what you saved",
  POPULAR: "Popular",
  SHOWN_BEFORE: "Seen before",
};
