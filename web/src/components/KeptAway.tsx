// What the viewer blocks, mutes, hides and sees less and more of, for the viewer's own profile.
import { useQuery } from "@apollo/client/react";
import { make } from "../api/change";
import { unblockUser, unmuteUser } from "../changes/apart";
import { seeAsUsual, unhidePin } from "../changes/preferences";
import { graphql } from "../gen";
import { TakenBack } from "./TakenBack";

const Kept = graphql(`
  query KeptAway {
    blockedUsers(first: 100) {
      edges {
        node {
          id
          username
          fullName
        }
      }
    }
    mutedUsers(first: 100) {
      edges {
        node {
          id
          username
          fullName
        }
      }
    }
    hiddenPins(first: 100) {
      edges {
        node {
          id
          title
        }
      }
    }
    seenLess(first: 100) {
      edges {
        node {
          id
          ... on User {
            username
            fullName
          }
          ... on Board {
            name
          }
          ... on Interest {
            name
          }
        }
      }
    }
    seenMore(first: 100) {
      edges {
        node {
          id
          ... on User {
            username
            fullName
          }
          ... on Board {
            name
          }
          ... on Interest {
            name
          }
        }
      }
    }
  }
`);

interface Entries<Node> {
  edges: { node: Node | null }[];
}

interface Person {
  id: string;
  username: string;
  fullName: string;
}

const nodes = <Node,>(list: Entries<Node> | null | undefined) => (list?.edges ?? []).flatMap(({ node }) => node ?? []);

const shown = ({ id, username, fullName }: Person) => ({ id, name: fullName || username, detail: `@${username}` });

export function KeptAway() {
  const { data, refetch } = useQuery(Kept, { fetchPolicy: "cache-and-network" });
  const after = (change: Promise<unknown>) => void change.then((done) => done && refetch());
  const tuned = (list: NonNullable<typeof data>["seenLess"] | undefined) =>
    nodes(list).flatMap((node) => {
      if (node.__typename === "User") return [shown(node)];
      return node.__typename === "Board" || node.__typename === "Interest" ? [{ id: node.id, name: node.name }] : [];
    });
  const asUsual = (id: string) => after(make(seeAsUsual, { id }));
  return (
    <>
      <TakenBack
        title="Blocked"
        action="Unblock"
        entries={nodes(data?.blockedUsers).map(shown)}
        onTakeBack={(userId) => after(make(unblockUser, { userId }))}
      />
      <TakenBack
        title="Muted"
        action="Unmute"
        entries={nodes(data?.mutedUsers).map(shown)}
        onTakeBack={(userId) => after(make(unmuteUser, { userId }))}
      />
      <TakenBack
        title="Hidden pins"
        action="Show again"
        entries={nodes(data?.hiddenPins).map(({ id, title }) => ({ id, name: title || "A pin without a title" }))}
        onTakeBack={(pinId) => after(make(unhidePin, { pinId }))}
      />
      <TakenBack title="Less in your home feed" action="As usual" entries={tuned(data?.seenLess)} onTakeBack={asUsual} />
      <TakenBack title="More in your home feed" action="As usual" entries={tuned(data?.seenMore)} onTakeBack={asUsual} />
    </>
  );
}
