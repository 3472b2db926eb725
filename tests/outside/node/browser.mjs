// Starts Chromium for the scripts that act as a person in front of the web client.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { URL_BASE } from "./support.mjs";

export const WIDE = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// The rules in RULES that depend on colors.
export const COLORS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
const FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [...FLAGS, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });

// Returns a session of a demo user, as the client keeps it: {username, token}.
export async function signIn(username) {
  const response = await fetch(`${URL_BASE}/web/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username }),
  });
  return response.json();
}

// Returns a new browser profile, signed in or not. `seen` collects the errors of its pages.
export async function profile(browser, options, session, seen) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(60_000); // for a machine with much else to do
  if (session) {
    await context.addInitScript(
      // A tab begins with a blank page, which has no storage.
      (kept) => location.protocol === "http:" && localStorage.setItem("pinway:session", kept),
      JSON.stringify(session),
    );
  }
  context.on("request", (request) => seen.hosts.add(new URL(request.url()).host));
  context.on("console", (message) => {
    if (message.type() === "error") seen.console.push(message.text());
  });
  context.on("weberror", (error) => seen.pageErrors.push(String(error.error())));
  return context;
}

export const newSeen = () => ({ hosts: new Set(), console: [], pageErrors: [] });

// Returns the names of the accessibility rules that the page breaks, each with its elements.
export async function violations(page, rules = RULES) {
  await page.evaluate(AXE);
  const found = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), rules);
  const some = (nodes) => nodes.slice(0, 5).map(({ html }) => html.slice(0, 200));
  return found.violations.map(({ id, nodes }) => `${id}: ${some(nodes).join(" ")}`);
}

// Scrolls to the page's present end. An answer makes the page longer a moment after it has come.
export async function scrollDown(page) {
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.waitForTimeout(20);
}

// Waits until a dialog has left the page: it may be hidden a moment before.
export const gone = (page) => page.locator("dialog").waitFor({ state: "detached" });

// Returns the ids of the pins on the page, in the order of the document.
export const pinsOn = (page, list) =>
  page.locator(`${list} [data-pin]`).evaluateAll((cells) => cells.map((cell) => cell.dataset.pin));

// Does something that sends an operation, and waits for the answer. Throws what went wrong there, or the
// answer's errors.
export async function answered(page, name, act) {
  const sent = (response) => operationOf(response.request())?.operationName === name;
  const [response] = await Promise.all([page.waitForResponse(sent), act()]);
  await accepted(name, response);
}

// Throws the errors of an operation's answer.
export async function accepted(name, response) {
  const { data, errors } = await response.json();
  const refused = errors ?? Object.values(data).flatMap((payload) => payload?.errors ?? []);
  if (refused.length) throw new Error(`${name}: ${JSON.stringify(refused)}`);
}

// Returns the operation that a request sends, or undefined.
export function operationOf(request) {
  if (!request.url().endsWith("/graphql") || request.method() !== "POST") return undefined;
  return request.postDataJSON();
}
