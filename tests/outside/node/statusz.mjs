// Opens the operators' page in Chromium, and prints what it showed and requested.
import { chromium } from "playwright-core";
import { PHONE, violations, WIDE } from "./browser.mjs";
import { report, send, URL_BASE } from "./support.mjs";

const NARROW = { ...PHONE, viewport: { width: 320, height: 640 } };
const seen = { requests: [], failures: [], console: [], pageErrors: [] };

function watch(page) {
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("requestfailed", (request) => seen.failures.push(request.url()));
  page.on("response", (response) => {
    if (response.status() >= 400) seen.failures.push(`${response.status()} ${response.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") seen.console.push(message.text());
  });
  page.on("pageerror", (error) => seen.pageErrors.push(String(error)));
}

const rows = (page, table) =>
  page.locator(`#${table} tr`).evaluateAll((found) =>
    found.map((row) => [...row.children].map((cell) => cell.textContent)),
  );
// The parts of a card that stick out of it. Found and measured in one step: the page replaces them.
const sticking = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("section :is(figure, svg, table, p)")]
      .filter((part) => {
        const card = part.closest("section").getBoundingClientRect();
        return part.getBoundingClientRect().right > card.right;
      })
      .map((part) => `out of its card: ${part.parentElement.id} ${part.localName}`),
  );
const points = (page) =>
  page.locator("figure[data-store=pools] polyline.primary").evaluate(
    (line) => line.getAttribute("points").split(" ").length,
  );

report(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  const page = await browser.newPage({ viewport: { width: 1200, height: 1000 } });
  watch(page);
  await send("{ homeFeed(first: 3) { edges { node { id } } } }");
  await page.goto(`${URL_BASE}/statusz`);
  await page.locator("figure[data-store=pools] polyline.primary").waitFor({ state: "attached" });
  const before = await points(page);
  // A later answer adds a point.
  await page.waitForFunction(
    (earlier) =>
      document
        .querySelector("figure[data-store=pools] polyline.primary")
        .getAttribute("points")
        .split(" ").length > earlier,
    before,
  );
  seen.ready = await page.locator("#ready").textContent();
  seen.stores = await rows(page, "stores");
  seen.work = await rows(page, "work");
  seen.caches = await rows(page, "caches");
  seen.captions = await page.locator("figcaption").allTextContents();
  if (process.env.PICTURE) await page.screenshot({ path: process.env.PICTURE });
  seen.titles = await page.locator("#feeds svg title").allTextContents();
  seen.violations = {};
  for (const [kind, options] of Object.entries({ wide: WIDE, phone: PHONE, narrow: NARROW })) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({ ...options, colorScheme });
      const other = await context.newPage();
      watch(other);
      await other.goto(`${URL_BASE}/statusz`);
      await other.locator("figure[data-store=pools] polyline.primary").waitFor({ state: "attached" });
      const wide = await other.evaluate(() => document.documentElement.scrollWidth);
      const found = await violations(other);
      if (wide > options.viewport.width) found.push("too wide");
      found.push(...(await sticking(other)));
      const lost = await context.newPage();
      await lost.goto(`${URL_BASE}/nothing-here`);
      found.push(...(await violations(lost)).map((one) => `the page of a wrong address: ${one}`));
      if (found.length) seen.violations[`${kind}, ${colorScheme}`] = found;
      await context.close();
    }
  }
  await page.route("**/statusz.json", async (route) => {
    const status = await (await route.fetch()).json();
    const queue = status.stores.find((store) => store.name === "queue");
    Object.assign(queue, { state: "no answer", costs: "feeds fall behind" });
    status.queue = null;
    status.circuits = [{ cache: "object_cache", server: "a:1", mode: "avoided" }];
    const { pools, feeds } = status.feeds;
    pools.cutoff = 1.5;
    Object.assign(pools.sides.primary, { mode: "avoided", latency: { 0.99: 0.9996 } });
    Object.assign(pools.sides.standby, { mode: "well", latency: { 0.99: 0.01234 } });
    feeds.cutoff = 0.02;
    feeds.sides.primary.latency = { 0.99: 0.0000412 };
    feeds.sides.standby.latency = {};
    await route.fulfill({ json: status });
  });
  await page.locator("#faults li").first().waitFor();
  seen.captionsThen = await page.locator("figcaption").allTextContents();
  seen.cachesThen = await rows(page, "caches");
  seen.violationsThen = await violations(page);
  seen.faults = await page.locator("#faults li").allTextContents();
  seen.readyThen = await page.locator("#ready").textContent();
  await page.unrouteAll({ behavior: "wait" });
  await browser.close();
  return seen;
});
