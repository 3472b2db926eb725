// The people whom the viewer blocks, for the viewer's own profile.
import { useQuery } from "@apollo/client/react";
import { make } from "../api/change";
import { unblockUser } from "../changes/apart";
import { graphql } from "../gen";

const Blocked = graphql(`
  query BlockedPeople {
    blockedUsers(first: 100) {
      edges {
        node {
          id
          username
          fullName
        }
      }
    }
  }
`);

export function BlockedPeople() {
  const { data, refetch } = useQuery(Blocked, { fetchPolicy: "cache-and-network" });
  const people = (data?.blockedUsers?.edges ?? []).flatMap(({ node }) => node ?? []);
  if (!people.length) return null;
  const unblock = async (userId: string) => {
    if (await make(unblockUser, { userId })) void refetch();
  };
  return (
    <section aria-label="Blocked">
      <h2>Blocked</h2>
      <ul class="comments">
        {people.map(({ id, username, fullName }) => (
          <li key={id} class="row">
            <span>
              {fullName || username} <span class="quiet">@{username}</span>
            </span>
            <button type="button" onClick={() => void unblock(id)}>
              Unblock<span class="visually-hidden"> {fullName || username}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
