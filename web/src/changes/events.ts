// Tells the gateway what the viewer did with pins, and deletes what it recorded.
import { client } from "../api/client";
import { defineChange } from "../api/change";
import { newKey } from "../api/keys";
import { currentSession } from "../api/session";
import { graphql } from "../gen";
import type { DeleteEventsMutation, PinEventKind } from "../gen/graphql";

const RecordEvents = graphql(`
  mutation RecordEvents($input: RecordEventsInput!) {
    recordEvents(input: $input) {
      errors {
        code
      }
    }
  }
`);

const DeleteEvents = graphql(`
  mutation DeleteEvents($input: DeleteEventsInput!) {
    deleteEvents(input: $input) {
      errors {
        message
      }
    }
  }
`);

export const deleteEvents = defineChange<object, DeleteEventsMutation>({
  name: "deleteEvents",
  document: DeleteEvents,
  payload: (data) => data.deleteEvents,
});

const WAIT = 10_000; // ms from an event until it is sent
const MOST = 100; // events in one call, as the schema allows
const told = new Set<string>();
let waiting: { pinId: string; kind: PinEventKind }[] = [];
let timer = 0;

// Notes an event, each once while the page is open. Events are sent together, and when the page is left.
export function note(kind: PinEventKind, pinId: string): void {
  const name = `${kind} ${pinId}`;
  if (told.has(name) || !currentSession()) return;
  told.add(name);
  waiting.push({ pinId, kind });
  if (waiting.length === MOST) sendEvents();
  else timer ||= window.setTimeout(sendEvents, WAIT);
}

// A lost event does no harm, so a failure is not shown. `keepalive` lets the request outlive the page;
// a beacon could not carry the viewer's token.
function sendEvents(): void {
  clearTimeout(timer);
  timer = 0;
  const events = waiting;
  waiting = [];
  if (!events.length || !currentSession()) return;
  client
    .mutate({
      mutation: RecordEvents,
      variables: { input: { events, idempotencyKey: newKey() } },
      context: { fetchOptions: { keepalive: true } },
      fetchPolicy: "no-cache",
    })
    .catch(() => undefined);
}

addEventListener("pagehide", sendEvents);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") sendEvents();
});
