// Choose a demo user. Only a development gateway offers that: see gateway/web_client.py.
import { useQuery } from "@apollo/client/react";
import { useEffect, useState } from "preact/hooks";
import { demoViewer, signInAs } from "../api/session";
import { Avatar } from "../components/Avatar";
import { announce } from "../components/Toasts";
import { graphql } from "../gen";

const People = graphql(`
  query People($offered: String!) {
    user(username: $offered) {
      id
      username
      fullName
      avatar {
        url
      }
    }
    users(first: 24) {
      edges {
        node {
          id
          username
          fullName
          avatar {
            url
          }
        }
      }
    }
  }
`);

export function SignInScreen() {
  const [offered, setOffered] = useState<string | null | undefined>(undefined);
  const { data } = useQuery(People, { variables: { offered: offered ?? "" }, skip: !offered });
  useEffect(() => void demoViewer().then(setOffered), []);

  if (offered === undefined) return <h1>Sign in</h1>;
  if (offered === null) {
    return (
      <>
        <h1>Sign in</h1>
        <p>This server offers no demo users. Its API at /graphql takes a bearer token.</p>
      </>
    );
  }
  const people = (data?.users?.edges ?? []).flatMap(({ node }) => (node ? [node] : []));
  const others = people.filter((person) => person.username !== offered);
  const first = data?.user ? [data.user] : [];
  const choose = (name: string) =>
    void signInAs(name).catch((error: unknown) => announce((error as Error).message, "error"));
  return (
    <>
      <h1>Who are you?</h1>
      <p class="quiet">Choose a demo user: you see Pinway as this person, and may change what is theirs.</p>
      <ul class="people choose">
        {[...first, ...others].map((person) => (
          <li key={person.username}>
            <button type="button" onClick={() => choose(person.username)}>
              <Avatar avatar={person.avatar} size={40} />
              <span>
                {person.fullName || person.username}
                <span class="quiet"> @{person.username}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
