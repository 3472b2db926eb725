// Gets a new token in the second half of the token's life, so that a person who comes back stays signed in.
import { graphql } from "../gen";
import { client } from "./client";
import { currentSession, keepSession } from "./session";

const RefreshToken = graphql(`
  mutation RefreshToken($input: RefreshTokenInput!) {
    refreshToken(input: $input) {
      token
      errors {
        message
      }
    }
  }
`);

const HOUR = 3_600_000;

export function keepTokenFresh(): void {
  void refresh();
  setInterval(() => void refresh(), HOUR);
}

async function refresh(): Promise<void> {
  const used = currentSession()?.token;
  if (!used || !isAging(used)) return;
  try {
    // The token must not be in the cache.
    const { data } = await client.mutate({
      mutation: RefreshToken,
      variables: { input: {} },
      fetchPolicy: "no-cache",
    });
    const token = data?.refreshToken?.token;
    if (token && currentSession()?.token === used) keepSession({ token });
  } catch {
    // The old token is still valid: the next attempt is in an hour.
  }
}

// Whether the middle of the token's life is past; false for a token that does not say it.
function isAging(token: string): boolean {
  try {
    const coded = token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/");
    const { iat, exp } = JSON.parse(atob(coded)) as { iat: number; exp: number };
    return Date.now() / 1000 > (iat + exp) / 2;
  } catch {
    return false;
  }
}
