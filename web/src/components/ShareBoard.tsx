// A dialog in which a board's owner invites and removes collaborators.
import { useQuery } from "@apollo/client/react";
import { useState } from "preact/hooks";
import { make } from "../api/change";
import { client } from "../api/client";
import { inviteCollaborator, removeCollaborator } from "../changes/members";
import { graphql } from "../gen";
import { Dialog } from "./Dialog";
import { Field } from "./Field";
import { announce } from "./Toasts";

const Members = graphql(`
  query BoardMembers($id: ID!) {
    board(id: $id) {
      id
      collaborators(first: 100) {
        edges {
          node {
            id
            username
            fullName
          }
        }
      }
      invitedUsers(first: 100) {
        edges {
          node {
            id
            username
            fullName
          }
        }
      }
    }
  }
`);

const UserByName = graphql(`
  query UserByName($name: String!) {
    user(username: $name) {
      id
    }
  }
`);

interface Props {
  boardId: string;
  onClose: () => void;
}

export function ShareBoard({ boardId, onClose }: Props) {
  const { data, refetch } = useQuery(Members, { variables: { id: boardId }, fetchPolicy: "network-only" });
  const [name, setName] = useState("");
  const members = [
    ...(data?.board?.collaborators?.edges ?? []).map(({ node }) => ({ node, invited: false })),
    ...(data?.board?.invitedUsers?.edges ?? []).map(({ node }) => ({ node, invited: true })),
  ];
  const invite = async (event: Event) => {
    event.preventDefault();
    const wanted = name.trim().replace(/^@/, "");
    const found = await client.query({ query: UserByName, variables: { name: wanted }, fetchPolicy: "network-only" });
    const userId = found.data?.user?.id;
    if (!userId) {
      announce(`There is no user ${wanted}.`);
      return;
    }
    if (!(await make(inviteCollaborator, { boardId, userId }))) return;
    setName("");
    void refetch();
  };
  const remove = async (userId: string) => {
    if (await make(removeCollaborator, { boardId, userId })) void refetch();
  };
  return (
    <Dialog title="Share the board" onClose={onClose}>
      <p class="quiet">Collaborators see the board, also if it is secret, and add and order pins.</p>
      <form class="row" onSubmit={(event) => void invite(event)}>
        <Field label="User name" value={name} onChange={setName} required />
        <button type="submit" class="primary">
          Invite
        </button>
      </form>
      <ul class="comments">
        {members.map(
          ({ node, invited }) =>
            node && (
              <li key={node.id} class="row">
                <span>
                  {node.fullName || node.username} <span class="quiet">@{node.username}</span>
                  {invited && <span class="quiet"> (invited)</span>}
                </span>
                <button type="button" onClick={() => void remove(node.id)}>
                  Remove<span class="visually-hidden"> {node.fullName || node.username}</span>
                </button>
              </li>
            ),
        )}
      </ul>
    </Dialog>
  );
}
