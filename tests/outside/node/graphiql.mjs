// Opens GraphiQL in Chromium, as a person would, and prints what the page showed and requested.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { PHONE, violations, WIDE } from "./browser.mjs";
import { ENDPOINT, report } from "./support.mjs";

// This name leads to the gateway and is not one of its names. A page of another site would use it.
const FOREIGN = new URL(ENDPOINT);
FOREIGN.hostname = "pinway.test";

const FLAGS = [
  `--host-resolver-rules=MAP pinway.test 127.0.0.1`,
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
// How the names of the editors' models end.
const FILE = { operation: "operation.graphql", response: "response.json" };

const seen = { requests: [], failures: [], console: [], pageErrors: [] };

function watch(page) {
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("requestfailed", (request) => {
    // A reload stops the requests of the page before it. These requests did not fail.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") seen.failures.push(request.url());
  });
  page.on("response", (response) => {
    if (response.status() >= 400) seen.failures.push(`${response.status()} ${response.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") seen.console.push(message.text());
  });
  page.on("pageerror", (error) => seen.pageErrors.push(String(error)));
}

// Returns the text in one of GraphiQL's editors.
const textOf = (page, editor) =>
  page.evaluate(
    (suffix) =>
      globalThis.__MONACO.editor
        .getModels()
        .find((model) => model.uri.path.endsWith(suffix))
        ?.getValue(),
    FILE[editor],
  );

async function open(page, url) {
  await page.goto(url);
  await page.locator(".graphiql-editors .monaco-editor").first().waitFor();
}

const tabTitles = (page) => page.locator(".graphiql-tab-button").allInnerTexts();

async function runTab(page, title) {
  await page.locator(".graphiql-tab-button", { hasText: title }).click();
  const answer = page.waitForResponse((response) => {
    const body = response.request().postData() ?? "";
    return response.url() === ENDPOINT && body.includes(` ${title}(`);
  });
  await page.locator(".graphiql-execute-button").click();
  const { data, errors } = await (await answer).json();
  await page.waitForFunction(
    (suffix) =>
      globalThis.__MONACO.editor
        .getModels()
        .find((model) => model.uri.path.endsWith(suffix))
        .getValue()
        .includes('"data"'),
    FILE.response,
  );
  return { data, errors };
}

// Follows a board in its tab while a pin is saved to it. Returns the responses that were shown.
async function followBoard(page) {
  await page.locator(".graphiql-tab-button", { hasText: "BoardChanged" }).click();
  await page.locator(".graphiql-execute-button").click();
  const shown = [];
  const show = async (kind) => {
    await page.waitForFunction(
      ([suffix, kind]) =>
        globalThis.__MONACO.editor
          .getModels()
          .find((model) => model.uri.path.endsWith(suffix))
          .getValue()
          .includes(`"kind": "${kind}"`),
      [FILE.response, kind],
    );
    shown.push(JSON.parse(await textOf(page, "response")));
  };
  await show("STARTED");
  await page.evaluate(async () => {
    const { token, tabs } = await (await fetch("/graphiql/boot.json")).json();
    const { query, variables } = tabs.find(({ title }) => title === "Create pin");
    await fetch("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables: JSON.parse(variables) }),
    });
  });
  await show("SAVED");
  await page.locator(".graphiql-execute-button").click(); // it stops the subscription
  return shown;
}

// Runs an operation that defers a list and streams another. Returns what was shown, and its type.
async function runInParts(page) {
  await page.locator(".graphiql-tab-button", { hasText: "HomeFeed" }).click();
  await page.evaluate((suffix) => {
    const model = globalThis.__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith(suffix));
    model.setValue(`query HomeFeed {
      viewer { username ... @defer { boards(first: 1) { edges { node { name } } } } }
      homeFeed(first: 3) { edges @stream(initialCount: 1) { node { id } } }
    }`);
  }, FILE.operation);
  const answer = page.waitForResponse((response) => response.request().postData()?.includes("@stream"));
  await page.locator(".graphiql-execute-button").click();
  const { "content-type": type } = (await answer).headers();
  await page.waitForFunction((suffix) => {
    const model = globalThis.__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith(suffix));
    return model.getValue().includes('"boards"') && model.getValue().split('"id"').length > 2;
  }, FILE.response);
  return { type, shown: JSON.parse(await textOf(page, "response")) };
}

// Rests the pointer on the first image URL of the response. Returns the picture that appears.
async function hoverImage(page) {
  await page.evaluate((suffix) => {
    const editors = globalThis.__MONACO.editor.getEditors();
    const editor = editors.find((each) => each.getModel()?.uri.path.endsWith(suffix));
    const [match] = editor.getModel().findMatches('"url": "http', false, false, true, null, false);
    editor.revealLineInCenter(match.range.startLineNumber);
  }, FILE.response);
  const line = page.locator(".result-window .view-line", { hasText: '"http' }).first();
  await line.locator("span", { hasText: "http" }).last().hover();
  const picture = page.locator(".result-window .monaco-hover img");
  await picture.waitFor();
  await picture.evaluate((image) => image.decode());
  return picture.evaluate((image) => ({ src: image.src, width: image.naturalWidth }));
}

// Opens every pane at the left, one after another. Returns the heading of each.
async function openPanes(page) {
  const headings = [];
  for (const name of ["Documentation Explorer", "History", "GraphiQL Explorer", "Sample operations"]) {
    await page.getByRole("button", { name: `Show ${name}` }).click();
    headings.push((await page.locator(".graphiql-plugin").innerText()).split("\n")[0]);
    if (process.env.SCREENSHOT) {
      await page.screenshot({ path: process.env.SCREENSHOT.replace(".png", `-${name}.png`) });
    }
  }
  return headings;
}

// Draws the trace of a home feed's operation. Returns the kinds of its bars, and its first lines.
async function drawTrace(page) {
  await runTab(page, "HomeFeed");
  const pane = page.locator(".pinway-trace");
  if (!(await pane.isVisible())) await page.getByRole("button", { name: "Show Trace" }).click();
  await pane.locator("li").first().waitFor();
  const kinds = await pane.locator("li").evaluateAll((bars) => bars.map((bar) => bar.dataset.kind));
  const [, summary] = (await pane.innerText()).split("\n").filter((line) => line);
  const widths = await pane
    .locator("li .pinway-span-track > span")
    .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  if (process.env.SCREENSHOT) {
    await page.screenshot({ path: process.env.SCREENSHOT.replace(".png", "-trace.png") });
  }
  const shown = await textOf(page, "response");
  await page.getByRole("button", { name: "Hide Trace" }).click();
  const widest = widths[0] > 0 && widths[0] >= Math.max(...widths);
  return { kinds, summary, widest, shown: shown.includes('"trace"') };
}

// Returns the accessibility rules that the page breaks, by window and color scheme.
async function look(page) {
  const found = {};
  // On a phone the open pane covers the editors.
  await page.getByRole("button", { name: "Hide Sample operations" }).click();
  for (const [kind, { viewport }] of Object.entries({ wide: WIDE, phone: PHONE })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      // The editors take on the scheme's colors a moment later.
      await page.waitForFunction(
        (dark) => (document.querySelector(".monaco-editor.vs-dark") !== null) === dark,
        colorScheme === "dark",
      );
      const broken = await violations(page);
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) broken.push("too wide");
      if (await page.evaluate(() => document.documentElement.scrollHeight > innerHeight)) broken.push("too high");
      if (broken.length) found[`${kind}, ${colorScheme}`] = broken;
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("button", { name: "Show Sample operations" }).click();
  return found;
}

async function openSample(page, title) {
  await page.locator(".pinway-samples button", { hasText: title }).click();
  const query = await textOf(page, "operation");
  await page.getByRole("button", { name: "Hide Sample operations" }).click();
  return query;
}

// This page has no GraphiQL: GraphiQL writes its tabs down a moment after it has opened, too.
async function editStorage(page, edit) {
  const blank = { contentType: "text/html", body: '<link rel="icon" href="data:,">' };
  await page.route("**/blank", (route) => route.fulfill(blank));
  await page.goto(new URL("/blank", ENDPOINT).href);
  await page.evaluate(edit);
  await open(page, ENDPOINT);
}

await report(async () => {
  const profile = mkdtempSync(join(tmpdir(), "pinway-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [...FLAGS, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
    viewport: { width: 1440, height: 900 },
  });
  context.setDefaultTimeout(90_000); // for a machine with much else to do
  try {
    const page = context.pages()[0];
    watch(page);
    await open(page, ENDPOINT);
    seen.banner = await page.locator(".pinway-banner").innerText();
    seen.tabs = await tabTitles(page);
    seen.firstOperation = await textOf(page, "operation");
    seen.homeFeed = await runTab(page, "HomeFeed");
    seen.preview = await hoverImage(page);
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    seen.board = await runTab(page, "BoardWithPins");
    seen.reorder = await runTab(page, "ReorderPin");
    seen.follow = await runTab(page, "FollowUser");
    seen.createPin = await runTab(page, "CreatePin");

    seen.events = await followBoard(page);

    seen.trace = await drawTrace(page);
    seen.panes = await openPanes(page);
    seen.looks = await look(page);
    seen.sampleOpened = await openSample(page, "Follow user");
    seen.current = await page.locator(".graphiql-tabs [aria-current=true]").count();
    seen.roles = await page.locator(".graphiql-tabs [role]").count();

    // GraphiQL writes its tabs down a moment after a change.
    await page.waitForFunction(() =>
      /"title":"FollowUser".*"title":"FollowUser"/.test(localStorage["pinway:graphiql:tabState"]),
    );
    await open(page, ENDPOINT);
    seen.tabsAfterReload = await tabTitles(page);
    await editStorage(page, () => localStorage.setItem("pinway:graphiql:tabState", '{"tabs":[3]}'));
    seen.tabsAfterDamage = await tabTitles(page);
    // As if the samples had named another board at the last visit.
    await editStorage(page, () => {
      for (const key of ["pinway:samples", "pinway:graphiql:tabState"]) {
        const old = localStorage.getItem(key).replace(/\\"id\\": \\"\d+\\"/, '\\"id\\": \\"1\\"');
        localStorage.setItem(key, old);
      }
    });
    seen.boardAfterNewContent = await runTab(page, "BoardWithPins");

    seen.parts = await runInParts(page);

    const stranger = await context.newPage();
    const refused = await stranger.goto(FOREIGN.href);
    seen.foreign = { status: refused.status(), text: await refused.text() };
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
  return seen;
});
