// Likes a pin, or removes the like.
import { graphql } from "../gen";
import type { LikePinMutation, UnlikePinMutation } from "../gen/graphql";
import { defineChange } from "../api/change";

const LikePin = graphql(`
  mutation LikePin($input: LikePinInput!) {
    likePin(input: $input) {
      pin {
        id
        likeCount
        viewerHasLiked
      }
      errors {
        message
      }
    }
  }
`);

const UnlikePin = graphql(`
  mutation UnlikePin($input: LikePinInput!) {
    unlikePin(input: $input) {
      pin {
        id
        likeCount
        viewerHasLiked
      }
      errors {
        message
      }
    }
  }
`);

interface Like {
  pinId: string;
}

// The count comes with the answer, so it changes a moment later than the heart.
export const like = defineChange<Like, LikePinMutation>({
  name: "like",
  document: LikePin,
  payload: (data) => data.likePin,
});

export const unlike = defineChange<Like, UnlikePinMutation>({
  name: "unlike",
  document: UnlikePin,
  payload: (data) => data.unlikePin,
});
