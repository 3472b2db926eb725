// Deletes the viewer's account.
import { graphql } from "../gen";
import type { DeleteAccountMutation } from "../gen/graphql";
import { defineChange } from "../api/change";

const DeleteAccount = graphql(`
  mutation DeleteAccount($input: DeleteAccountInput!) {
    deleteAccount(input: $input) {
      deletedUserId
      errors {
        message
      }
    }
  }
`);

export const deleteAccount = defineChange<{ username: string }, DeleteAccountMutation>({
  name: "deleteAccount",
  document: DeleteAccount,
  payload: (data) => data.deleteAccount,
});
