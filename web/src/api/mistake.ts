// Tells what does not exist from what can't be read at the moment.
import { CombinedGraphQLErrors } from "@apollo/client/errors";

// Whether the gateway read the request, and found that it can't be answered: an id with a letter.
export const isMistake = (error: unknown): boolean =>
  CombinedGraphQLErrors.is(error) && error.errors.every(({ extensions }) => extensions?.["code"] === "BAD_USER_INPUT");
