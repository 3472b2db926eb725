// A pane that draws the last response's trace as a waterfall. The gateway tells it in
// `extensions.trace` while a demo viewer is set; the pane takes it out of the response that is shown.
import { useSyncExternalStore } from "react";

const Icon = () => (
  <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5">
    <path d="M3 5h8M7 10h9M11 15h6M14 20h7" />
  </svg>
);

let latest = null;
const listeners = new Set();

function publish(trace) {
  latest = trace;
  for (const listener of listeners) listener();
}

function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// A fetcher that asks for the trace of each operation and keeps it for the pane. A response in
// several parts (@defer, @stream) has none.
export const traced = (send) =>
  async function* (request, options) {
    const headers = { ...options?.headers, "x-pinway-trace": "1" };
    const sent = await send(request, { ...options, headers });
    const responses = Symbol.asyncIterator in sent ? sent : [sent]; // introspection is not iterable
    for await (const response of responses) {
      yield Array.isArray(response) ? response : keepTrace(request, response);
    }
  };

// Publishes the trace of a response, and returns the response without it.
function keepTrace(request, response) {
  if (!response?.extensions?.trace) return response;
  const { extensions, ...shown } = response;
  const { trace, ...rest } = extensions;
  if (request.operationName !== "IntrospectionQuery") publish(trace);
  return Object.keys(rest).length ? { ...shown, extensions: rest } : shown;
}

function depthOf(span, spans) {
  let depth = 0;
  for (let above = span.parent; above !== null && above !== undefined; depth += 1) {
    above = spans[above]?.parent;
  }
  return depth;
}

const percent = (part, whole) => `${Math.min(100, (100 * part) / Math.max(whole, 0.001))}%`;

function Bar({ span, spans, total }) {
  const left = percent(span.startMs, total);
  const keys = span.keys === undefined ? "" : ` (${span.keys})`;
  const outcome = span.outcome === "ok" ? "" : ` ${span.outcome}`;
  return (
    <li className={`pinway-span pinway-${span.kind}`} data-kind={span.kind}>
      <span className="pinway-span-name" style={{ paddingLeft: `${depthOf(span, spans) * 0.75}rem` }}>
        {span.name || span.kind}
        {keys}
        {outcome}
      </span>
      <span className="pinway-span-time">{span.ms.toFixed(2)} ms</span>
      <span className="pinway-span-track">
        <span style={{ left, width: percent(span.ms, total) }} />
      </span>
    </li>
  );
}

function Trace() {
  const trace = useSyncExternalStore(subscribe, () => latest);
  if (!trace) {
    return (
      <section aria-label="Trace" className="pinway-trace">
        <h2>Trace</h2>
        <p>Run an operation to see what it does.</p>
      </section>
    );
  }
  const levels = trace.levels.map(({ ms, loads }, i) => `${i + 1}: ${ms.toFixed(2)} ms (${loads.length})`);
  const caches = Object.entries(trace.caches).map(
    ([cache, { hits, keys }]) => `${cache} ${hits} of ${keys}`,
  );
  return (
    <section aria-label="Trace" className="pinway-trace">
      <h2>Trace</h2>
      <p>
        {trace.ms.toFixed(2)} ms
        {levels.length > 0 && ` · levels (loads) ${levels.join(", ")}`}
        {caches.length > 0 && ` · cache hits ${caches.join(", ")}`}
      </p>
      <ol>
        {trace.spans.map((span) => (
          <Bar key={span.id} span={span} spans={trace.spans} total={trace.ms} />
        ))}
      </ol>
      {trace.leftOut > 0 && <p>{trace.leftOut} more are left out.</p>}
    </section>
  );
}

export const tracePlugin = () => ({ title: "Trace", icon: Icon, content: () => <Trace /> });
