// Sends an operation again when its answer was lost.
//
// A mutation may have been done although no answer arrived: its idempotency key makes the second
// attempt safe. With the codes below, the gateway itself requests a second attempt.
import { ApolloLink } from "@apollo/client";
import { RetryLink } from "@apollo/client/link/retry";
import { map } from "rxjs";

const TRY_AGAIN = new Set(["UNAVAILABLE", "TIMEOUT"]);
const TRIES = 5;

class LostAnswer extends Error {
  constructor(readonly result: ApolloLink.Result) {
    super("The answer was lost.");
  }
}

function isMutation(operation: ApolloLink.Operation): boolean {
  return operation.operationType === "mutation";
}

// Turns an answer that requests a second attempt into an error, after which RetryLink sends the
// operation again. A query keeps its answer: the data that could be read is shown, with a banner.
const failLost = new ApolloLink((operation, forward) =>
  forward(operation).pipe(
    map((result) => {
      const codes = result.errors?.map((error) => String(error.extensions?.["code"])) ?? [];
      if (isMutation(operation) && codes.some((code) => TRY_AGAIN.has(code))) {
        throw new LostAnswer(result);
      }
      return result;
    }),
  ),
);

const retry = new RetryLink({
  delay: { initial: 300, max: 4_000, jitter: true },
  attempts: (count, _operation, error) =>
    count < TRIES && (error instanceof LostAnswer || isNetworkFailure(error)),
});

export function isNetworkFailure(error: unknown): boolean {
  return error instanceof TypeError; // fetch throws it when no answer arrived
}

export const sendAgain = ApolloLink.from([retry, failLost]);
