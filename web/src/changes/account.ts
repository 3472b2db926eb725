// Changes the viewer's user name and e-mail address, ends all sessions, and deletes the account.
import { graphql } from "../gen";
import type {
  ChangeEmailMutation,
  ChangeUserNameMutation,
  DeleteAccountMutation,
  SignOutEverywhereMutation,
} from "../gen/graphql";
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

const ChangeEmail = graphql(`
  mutation ChangeEmail($input: ChangeEmailInput!) {
    changeEmail(input: $input) {
      user {
        id
        email
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

// null: to have no address.
export const changeEmail = defineChange<{ email: string | null }, ChangeEmailMutation>({
  name: "changeEmail",
  document: ChangeEmail,
  payload: (data) => data.changeEmail,
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
