// Changes the viewer's user name, ends all sessions, and deletes the account.
import { graphql } from "../gen";
import type { ChangeUserNameMutation, DeleteAccountMutation, SignOutEverywhereMutation } from "../gen/graphql";
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

const ChangeUserName = graphql(`
  mutation ChangeUserName($input: ChangeUserNameInput!) {
    changeUserName(input: $input) {
      user {
        id
        username
      }
      errors {
        message
      }
    }
  }
`);

const SignOutEverywhere = graphql(`
  mutation SignOutEverywhere($input: SignOutEverywhereInput!) {
    signOutEverywhere(input: $input) {
      errors {
        message
      }
    }
  }
`);

export const changeUserName = defineChange<{ username: string }, ChangeUserNameMutation>({
  name: "changeUserName",
  document: ChangeUserName,
  payload: (data) => data.changeUserName,
});

export const signOutEverywhere = defineChange<object, SignOutEverywhereMutation>({
  name: "signOutEverywhere",
  document: SignOutEverywhere,
  payload: (data) => data.signOutEverywhere,
});

export const deleteAccount = defineChange<{ username: string }, DeleteAccountMutation>({
  name: "deleteAccount",
  document: DeleteAccount,
  payload: (data) => data.deleteAccount,
});
