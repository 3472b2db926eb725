// The common part of all changes: key, optimistic answer, cache update, other tabs, error messages.
import type { ApolloCache } from "@apollo/client";
import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { announce } from "../components/Toasts";
import { client } from "./client";
import { newKey } from "./keys";
import { isNetworkFailure } from "./lost";

export interface Payload {
  errors: { message: string }[];
}

export interface Change<Input extends object, Data> {
  name: string;
  document: TypedDocumentNode<Data, { input: Input }>;
  payload: (data: Data) => Payload | null | undefined;
  // The most likely answer, which is shown at once, and undone if the change fails.
  optimistic?: (input: Input) => Data;
  // The words for a refusal, if the gateway's own words are not right for the client.
  refusal?: (data: Data) => string[];
  // Changes of lists. The objects in the answer are updated automatically.
  update?: (cache: ApolloCache, data: Data, input: Input) => void;
}

type Told = { name: string; data: unknown; input: object };

// eslint-disable-next-line -- changes of all kinds, each with types of its own
const known = new Map<string, Change<any, any>>();
const tabs = new BroadcastChannel("pinway");

export function defineChange<Input extends object, Data>(
  change: Change<Input, Data>,
): Change<Input, Data> {
  known.set(change.name, change);
  return change;
}

// Makes the change. Returns null, and tells why, if it was refused or there was no answer.
export async function make<Input extends object, Data>(
  change: Change<Input, Data>,
  wanted: Input,
  tell: (words: string) => void = (words) => announce(words, "error"),
): Promise<Data | null> {
  const input = { ...wanted, idempotencyKey: newKey() };
  try {
    const { data } = await client.mutate({
      mutation: change.document,
      variables: { input } as never,
      optimisticResponse: change.optimistic?.(wanted) as never,
      update: (cache, { data: answer }) => apply(cache, change, answer as Data | null, wanted),
    });
    const refused = data ? change.payload(data as Data)?.errors : undefined;
    if (refused?.length) {
      const words = change.refusal?.(data as Data) ?? refused.map((error) => error.message);
      tell(words.join(" "));
      return null;
    }
    tabs.postMessage({ name: change.name, data, input: wanted } satisfies Told);
    return data as Data;
  } catch (error) {
    const words = isNetworkFailure(error) ? "Pinway can't be reached." : String((error as Error).message);
    tell(`Nothing was changed: ${words}`);
    return null;
  }
}

function apply<Input extends object, Data>(
  cache: ApolloCache,
  change: Change<Input, Data>,
  data: Data | null | undefined,
  input: Input,
): void {
  if (data && !change.payload(data)?.errors.length) change.update?.(cache, data, input);
}

// Writes a change of another tab to this tab's cache, as if it had been made here.
export function followOtherTabsChanges(): void {
  tabs.addEventListener("message", ({ data: told }: MessageEvent<Told>) => {
    const change = known.get(told.name);
    if (!change) return;
    const { cache } = client;
    cache.batch({
      update: () => {
        cache.write({
          dataId: "ROOT_MUTATION",
          query: change.document,
          variables: { input: told.input },
          result: told.data,
        });
        apply(cache, change, told.data, told.input);
      },
    });
  });
}
