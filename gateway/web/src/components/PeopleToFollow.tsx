// Some people to follow, for somebody who follows nobody yet.
import { useQuery } from "@apollo/client/react";
import { Link } from "wouter-preact";
import { session } from "../api/viewer";
import { graphql } from "../gen";
import { Avatar } from "./Avatar";
import { FollowButton } from "./FollowButton";

const PeopleToFollowQuery = graphql(`
  query PeopleToFollow {
    users(first: 12) {
      edges {
        node {
          id
          username
          fullName
          viewerFollows
          avatar {
            url
          }
        }
      }
    }
  }
`);

export function PeopleToFollow() {
  const { data } = useQuery(PeopleToFollowQuery);
  const people = (data?.users?.edges ?? []).flatMap(({ node }) => (node ? [node] : []));
  return (
    <ul class="people">
      {people
        .filter((person) => person.username !== session?.username)
        .map((person) => (
          <li key={person.id} class="row person-row">
            <Avatar avatar={person.avatar} size={40} />
            <Link href={`/user/${person.username}`}>{person.fullName || person.username}</Link>
            <FollowButton
              kind="user"
              id={person.id}
              name={person.fullName || person.username}
              follows={person.viewerFollows ?? false}
            />
          </li>
        ))}
    </ul>
  );
}
