// Invites users to boards, answers invitations, and ends memberships.
import { defineChange } from "../api/change";
import { graphql } from "../gen";
import type {
  AcceptInvitationMutation,
  DeclineInvitationMutation,
  InviteCollaboratorMutation,
  LeaveBoardMutation,
  RemoveCollaboratorMutation,
} from "../gen/graphql";

const Invite = graphql(`
  mutation InviteCollaborator($input: CollaboratorInput!) {
    inviteCollaborator(input: $input) {
      board {
        id
      }
      errors {
        message
      }
    }
  }
`);

const Remove = graphql(`
  mutation RemoveCollaborator($input: CollaboratorInput!) {
    removeCollaborator(input: $input) {
      board {
        id
      }
      errors {
        message
      }
    }
  }
`);

const Accept = graphql(`
  mutation AcceptInvitation($input: MembershipInput!) {
    acceptInvitation(input: $input) {
      board {
        id
        name
        viewerRole
      }
      errors {
        message
      }
    }
  }
`);

const Decline = graphql(`
  mutation DeclineInvitation($input: MembershipInput!) {
    declineInvitation(input: $input) {
      viewer {
        id
      }
      errors {
        message
      }
    }
  }
`);

const Leave = graphql(`
  mutation LeaveBoard($input: MembershipInput!) {
    leaveBoard(input: $input) {
      board {
        id
        viewerRole
      }
      errors {
        message
      }
    }
  }
`);

interface Member {
  boardId: string;
  userId: string;
}

interface OnBoard {
  boardId: string;
}

export const inviteCollaborator = defineChange<Member, InviteCollaboratorMutation>({
  name: "inviteCollaborator",
  document: Invite,
  payload: (data) => data.inviteCollaborator,
});

export const removeCollaborator = defineChange<Member, RemoveCollaboratorMutation>({
  name: "removeCollaborator",
  document: Remove,
  payload: (data) => data.removeCollaborator,
});

export const acceptInvitation = defineChange<OnBoard, AcceptInvitationMutation>({
  name: "acceptInvitation",
  document: Accept,
  payload: (data) => data.acceptInvitation,
});

export const declineInvitation = defineChange<OnBoard, DeclineInvitationMutation>({
  name: "declineInvitation",
  document: Decline,
  payload: (data) => data.declineInvitation,
});

export const leaveBoard = defineChange<OnBoard, LeaveBoardMutation>({
  name: "leaveBoard",
  document: Leave,
  payload: (data) => data.leaveBoard,
});
