// The operators' page: asks /statusz.json every two seconds and shows what it says.
const EVERY = 2000;
const KEPT = 150; // points of a plot: five minutes
const WIDTH = 500;
const HEIGHT = 140;
const SVG = "http://www.w3.org/2000/svg";
const history = new Map(); // a feed store's points: [{ primary, standby, cutoff }], in seconds

const find = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawing(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const three = (number) => Number(number.toPrecision(3)); // digits

function latency(seconds) {
  if (seconds === null) return "–";
  return seconds < 0.9995 ? `${three(seconds * 1000)} ms` : `${three(seconds)} s`;
}

const count = (number) => number.toLocaleString("en");
const sum = (by) => Object.values(by).reduce((total, value) => total + value, 0);

function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

function fill(id, rows) {
  find(id).replaceChildren(
    ...rows.map(([name, value, style]) =>
      element("tr", {}, element("th", {}, name), element("td", style ? { class: style } : {}, value)),
    ),
  );
}

function plot(store, points) {
  const svg = drawing("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const title = `Latency of the store ${store}: primary, standby and cutoff in the last five minutes`;
  svg.append(drawing("title", {}, title));
  const known = points.flatMap((p) => [p.primary, p.standby, p.cutoff]).filter((v) => v !== null);
  // A logarithmic scale: a store's latency may be a hundredth of the cutoff.
  const top = Math.max(0.001, ...known) * 2;
  const bottom = Math.min(top / 100, ...known.filter((value) => value > 0)) / 2;
  const height = (value) =>
    HEIGHT * (1 - Math.log(Math.max(value, bottom) / bottom) / Math.log(top / bottom));
  for (const line of ["cutoff", "standby", "primary"]) {
    const places = points
      .map((point, i) => [WIDTH - (points.length - 1 - i) * (WIDTH / (KEPT - 1)), point[line]])
      .filter(([, value]) => value !== null)
      .map(([x, value]) => `${x.toFixed(1)},${height(value).toFixed(1)}`);
    svg.append(drawing("polyline", { class: line, points: places.join(" ") }));
  }
  svg.append(drawing("text", { x: 4, y: 12 }, latency(top)));
  svg.append(drawing("text", { x: 4, y: HEIGHT - 4 }, latency(bottom)));
  return svg;
}

function showFeeds(feeds) {
  const figures = Object.entries(feeds).map(([store, { cutoff, sides }]) => {
    const slow = (side) => sides[side].latency["0.99"] ?? null;
    const point = { primary: slow("primary"), standby: slow("standby"), cutoff };
    const points = [...(history.get(store) ?? []), point].slice(-KEPT);
    history.set(store, points);
    const told = ["primary", "standby"].map((side) => {
      const { mode, forced } = sides[side];
      const more = `${mode === "well" ? "" : `, ${mode}`}${forced ? ", by an operator's order" : ""}`;
      return element("span", { class: side }, `${side} ${latency(point[side])}${more}`);
    });
    const caption = element(
      "figcaption",
      {},
      element("strong", {}, store),
      ...told,
      element("span", { class: "cutoff" }, `cutoff ${latency(cutoff)}`),
    );
    return element("figure", { "data-store": store }, caption, plot(store, points));
  });
  find("feeds").replaceChildren(...figures);
}

function showFaults(stores) {
  const down = stores.filter((store) => store.state !== "well");
  const lines = down.map(({ name, state, costs }) =>
    element("li", {}, element("strong", { class: "ill" }, name), `: ${state}. Cost: ${costs}.`),
  );
  find("faults").replaceChildren(
    ...(down.length ? [element("h2", {}, "What is down"), element("ul", {}, ...lines)] : []),
  );
}

function showWork({ queue, outbox, replication }) {
  const rows = queue
    ? queue.flatMap(({ priority, jobs, oldest }) => [
        [`jobs, ${priority}`, count(jobs)],
        [`oldest job, ${priority}`, oldest === null ? "–" : duration(oldest)],
      ])
    : [["queue", "does not answer", "ill"]];
  if (outbox) {
    rows.push(["outbox rows", count(outbox.rows)]);
    rows.push(["oldest row", outbox.rows ? duration(outbox.oldest) : "–"]);
    rows.push(["parked rows", count(outbox.parked), outbox.parked ? "ill" : ""]);
    const aside = outbox.set_aside;
    rows.push(["rows set aside (dead letters)", count(aside), aside ? "ill" : ""]);
    for (const server of outbox.unreachable) rows.push([`outbox of ${server}`, "unknown", "ill"]);
  } else rows.push(["outbox", "does not answer", "ill"]);
  for (const { server, seconds } of replication) {
    const stopped = seconds === null;
    rows.push([`replication to ${server}`, stopped ? "stopped" : duration(seconds), stopped && "ill"]);
  }
  fill("work", rows);
}

function showCaches({ sums, circuits }) {
  const hits = sums.pinway_cache_hits_total;
  const misses = sums.pinway_cache_misses_total;
  const rows = Object.keys(hits).map((cache) => {
    const asked = hits[cache] + (misses[cache] ?? 0);
    return [cache, asked ? `${((100 * hits[cache]) / asked).toFixed(1)}% of ${count(asked)}` : "–"];
  });
  const found = sum(sums.pinway_executor_hits_total);
  const read = found + sum(sums.pinway_executor_misses_total);
  for (const { cache, server, mode } of circuits) {
    const well = mode === "well";
    rows.push([`${cache} at ${server}`, well ? "asked" : `${mode}: shards are read`, well ? "" : "ill"]);
  }
  rows.push(["compiled documents", count(sum(sums.pinway_executor_documents))]);
  rows.push(["documents found", read ? `${((100 * found) / read).toFixed(1)}% of ${count(read)}` : "–"]);
  fill("caches", rows);
}

function showRequests({ sums, workers }) {
  const errors = Object.entries(sums.pinway_errors_total).sort(([, a], [, b]) => b - a);
  const refused = Object.entries(sums.pinway_operations_refused_total).filter(([, n]) => n);
  const jobs = Object.entries(sums.pinway_job_duration_seconds_count);
  fill("requests", [
    ["requests", count(sum(sums.pinway_http_request_duration_seconds_count))],
    ["connections", count(sum(sums.pinway_http_connections))],
    ...errors.slice(0, 6).map(([code, number]) => [`errors ${code}`, count(number)]),
    ...refused.map(([reason, number]) => [`refused for ${reason}`, count(number)]),
    ...jobs.map(([outcome, number]) => [`jobs ${outcome}`, count(number)]),
    ["memory", `${Math.round(sum(sums.process_resident_memory_bytes) / 2 ** 20)} MiB`],
    ...workers.map(({ worker, up }) => [`worker ${worker}`, up ? "answers" : "down", up ? "" : "ill"]),
  ]);
}

function show(status) {
  const ready = find("ready");
  const down = status.stores.filter((store) => store.state !== "well").length;
  ready.textContent = !status.ready ? "serves nobody" : down ? `serves, ${down} down` : "all is well";
  ready.className = status.ready && !down ? "well" : "ill";
  find("at").textContent = new Date(status.at * 1000).toLocaleTimeString();
  showFaults(status.stores);
  showFeeds(status.feeds);
  fill("stores", status.stores.map(({ name, state }) => {
    const well = state === "well";
    return [name, well ? "well" : "down", well ? "well" : "ill"];
  }));
  showWork(status);
  showCaches(status);
  showRequests(status);
}

async function ask() {
  try {
    const response = await fetch("/statusz.json", { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    show(await response.json());
  } catch (error) {
    find("ready").textContent = `no answer: ${error.message}`;
    find("ready").className = "ill";
  }
  setTimeout(ask, EVERY);
}

ask();
