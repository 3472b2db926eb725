// Join with a new name, or choose a demo user. Only a development gateway offers its demo users: see
// gateway/web_client.py.
import { useQuery } from "@apollo/client/react";
import { useEffect, useState } from "preact/hooks";
import { client } from "../api/client";
import { newKey } from "../api/keys";
import { demoViewer, signInAs, startSession } from "../api/session";
import { Avatar } from "../components/Avatar";
import { announce } from "../components/Toasts";
import { graphql } from "../gen";
import { useTitle } from "../title";

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

const SignUp = graphql(`
  mutation SignUp($input: SignUpInput!) {
    signUp(input: $input) {
      token
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

export function SignInScreen() {
  useTitle("Sign in");
  const [offered, setOffered] = useState<string | null | undefined>(undefined);
  const { data } = useQuery(People, { variables: { offered: offered ?? "" }, skip: !offered });
  useEffect(() => void demoViewer().then(setOffered), []);

  if (offered === undefined) return <h1>Sign in</h1>;
  if (offered === null) {
    return (
      <>
        <h1>Join</h1>
        <Join />
        <p class="quiet">This server offers no demo users. Its API at /graphql takes a bearer token.</p>
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
      <Join />
      <p class="quiet">Or be one of these demo users: you see what they see, and may change what is theirs.</p>
      <ul class="people choose">
        {[...first, ...others].map((person) => (
          <li key={person.username}>
            <button type="button" onClick={() => choose(person.username)}>
              <Avatar avatar={person.avatar} name={person.fullName || person.username} size={40} />
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

function Join() {
  const [name, setName] = useState("");
  const join = async (event: Event) => {
    event.preventDefault();
    try {
      const username = name.trim();
      const input = { username, fullName: username, idempotencyKey: newKey() };
      // The token belongs to the session only: the cache must not keep it.
      const { data } = await client.mutate({ mutation: SignUp, variables: { input }, fetchPolicy: "no-cache" });
      const { user, token, errors } = data?.signUp ?? {};
      if (user && token) startSession({ username: user.username, token });
      else announce(errors?.map(({ message }) => message).join(" ") || "Joining failed.", "error");
    } catch (error) {
      announce((error as Error).message, "error");
    }
  };
  return (
    <form class="row join" onSubmit={(event) => void join(event)}>
      <input
        aria-label="Choose a name"
        placeholder="I'm new: choose a name"
        required
        minLength={3}
        maxLength={30}
        pattern="[A-Za-z0-9._]+"
        title="3 to 30 letters, digits, dots or underscores"
        autoComplete="off"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Join
      </button>
    </form>
  );
}
