// Mutes a person, whose pins then stay out of the viewer's feeds, or blocks them.
import { graphql } from "../gen";
import type {
  BlockUserMutation,
  MuteUserMutation,
  UnblockUserMutation,
  UnmuteUserMutation,
} from "../gen/graphql";
import { defineChange } from "../api/change";

const MuteUser = graphql(`
  mutation MuteUser($input: MuteUserInput!) {
    muteUser(input: $input) {
      user {
        id
        viewerMutes
      }
      errors {
        message
      }
    }
  }
`);

const UnmuteUser = graphql(`
  mutation UnmuteUser($input: MuteUserInput!) {
    unmuteUser(input: $input) {
      user {
        id
        viewerMutes
      }
      errors {
        message
      }
    }
  }
`);

const BlockUser = graphql(`
  mutation BlockUser($input: BlockUserInput!) {
    blockUser(input: $input) {
      blockedUser {
        id
      }
      errors {
        message
      }
    }
  }
`);

const UnblockUser = graphql(`
  mutation UnblockUser($input: BlockUserInput!) {
    unblockUser(input: $input) {
      unblockedUserId
      errors {
        message
      }
    }
  }
`);

interface Person {
  userId: string;
}

export const muteUser = defineChange<Person, MuteUserMutation>({
  name: "muteUser",
  document: MuteUser,
  payload: (data) => data.muteUser,
});

export const unmuteUser = defineChange<Person, UnmuteUserMutation>({
  name: "unmuteUser",
  document: UnmuteUser,
  payload: (data) => data.unmuteUser,
});

export const blockUser = defineChange<Person, BlockUserMutation>({
  name: "blockUser",
  document: BlockUser,
  payload: (data) => data.blockUser,
});

export const unblockUser = defineChange<Person, UnblockUserMutation>({
  name: "unblockUser",
  document: UnblockUser,
  payload: (data) => data.unblockUser,
});
