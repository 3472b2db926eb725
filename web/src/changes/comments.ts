// Writes a comment under a pin.
import { graphql } from "../gen";
import type { CreateCommentMutation } from "../gen/graphql";
import type { StoredConnection, StoredEdge } from "../api/cache";
import { defineChange } from "../api/change";

const CreateComment = graphql(`
  mutation CreateComment($input: CreateCommentInput!) {
    createComment(input: $input) {
      comment {
        id
        ...CommentRow
      }
      pin {
        id
        commentCount
      }
      errors {
        message
      }
    }
  }
`);

export const createComment = defineChange<{ pinId: string; text: string }, CreateCommentMutation>({
  name: "createComment",
  document: CreateComment,
  payload: (data) => data.createComment,
  update: (cache, { createComment: done }, { pinId }) => {
    if (!done?.comment) return;
    const node = { __ref: `Comment:${done.comment.id}` };
    cache.modify<{ comments: StoredConnection }>({
      id: cache.identify({ __typename: "Pin", id: pinId }),
      fields: {
        comments: (known) => {
          const edge = { __typename: "CommentEdge", node } satisfies StoredEdge;
          const others = (known as StoredConnection).edges.filter((e) => e.node?.__ref !== node.__ref);
          return { ...known, edges: [edge, ...others] } as StoredConnection;
        },
      },
    });
  },
});
