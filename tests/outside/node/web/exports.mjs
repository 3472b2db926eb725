// Requests the file with a new user's own data, loads it, and follows the notification to it. The width is
// a phone's, where the texts have the most lines.
import { readFileSync } from "node:fs";
import { COLORS, gone, operationOf, profile, signIn, violations } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const SIGN_UP = `mutation ($input: SignUpInput!) { signUp(input: $input) { user { id } errors { message } } }`;
const EXPORT = `{ viewer { dataExport { requestedAt expiresAt bytes } } }`;
const NARROW = { viewport: { width: 390, height: 844 }, timezoneId: "Asia/Tokyo", locale: "en-GB", colorScheme: "light" };
const LOOKS = "**/graphql";

// Changes the answers to the dialog's looks at the file, until the returned function is called.
async function change(page, alter) {
  const handler = async (route) => {
    if (operationOf(route.request())?.operationName !== "DataFile") return route.fallback();
    const response = await route.fetch();
    const answer = await response.json();
    alter(answer);
    return route.fulfill({ response, json: answer });
  };
  await page.route(LOOKS, handler);
  // An answer may be on its way. Playwright refuses to change it when its route was removed meanwhile.
  return () => page.unrouteAll({ behavior: "wait" });
}

const unread = (answer) =>
  Object.assign(answer, { data: { viewer: null }, errors: [{ message: "away", extensions: { code: "UNAVAILABLE" } }] });
const pending = (requestedAt) => (answer) =>
  Object.assign(answer.data.viewer.dataExport, { state: "PENDING", requestedAt, expiresAt: null, bytes: null });
const expired = (answer) => Object.assign(answer.data.viewer.dataExport, { state: "EXPIRED" });

// In the page: closes the dialog, and opens it again before the browser has told that it was closed.
function reopen(when) {
  const opener = [...document.querySelectorAll("button")].find((it) => it.textContent === "Download your data…");
  const dialog = document.querySelector("dialog");
  if (when === "when it has left") {
    const observer = new MutationObserver(() => {
      if (dialog.isConnected) return;
      observer.disconnect();
      opener.click();
    });
    observer.observe(document, { childList: true, subtree: true });
  }
  dialog.querySelector("header button").click();
  if (when === "at once") opener.click();
}

export async function loadData(browser, seen) {
  const username = `data_${Date.now().toString(36)}`;
  await send(SIGN_UP, { input: { username } }, "");
  const session = await signIn(username);
  const board = await makeBoard("Own things", ["A lamp"], { token: session.token });
  const context = await profile(browser, NARROW, session, seen);
  const page = await context.newPage();
  const dialog = page.getByRole("dialog", { name: "Download your data" });
  const status = dialog.getByRole("status");
  const [request, load] = ["Request a file", "Download"].map((name) => dialog.getByRole("button", { name, exact: true }));
  const states = {};
  const broken = [];
  // Notes a state when its words are there: words, buttons that work, and where the buttons are.
  const note = async (name, words) => {
    await status.filter({ hasText: words }).waitFor();
    const buttons = await Promise.all([request, load].map((it) => it.getAttribute("aria-disabled")));
    const places = await Promise.all([request, load].map((it) => it.boundingBox()));
    states[name] = { words: await status.innerText(), works: buttons.map((it) => it !== "true"), places };
    broken.push(...(await violations(page)));
    await page.emulateMedia({ colorScheme: "dark" });
    broken.push(...(await violations(page, COLORS)));
    await page.emulateMedia({ colorScheme: "light" });
  };
  // The dialog leaves the page before the browser has gone back to the address without it.
  const close = async () => {
    await page.keyboard.press("Escape");
    await gone(page);
    await page.waitForURL((url) => !url.hash);
  };
  const focused = () => page.evaluate(() => document.activeElement.textContent);

  await page.goto(`${URL_BASE}/user/${username}`);
  let stop = await change(page, unread);
  const entry = page.getByRole("button", { name: "Download your data…" });
  await entry.focus();
  await page.keyboard.press("Enter");
  await note("unread", "can't be looked up");
  await stop();
  await note("none", "not requested");

  const late = new Date(Date.now() - 25 * 3_600_000).toISOString();
  stop = await change(page, pending(new Date().toISOString()));
  await page.keyboard.press("Tab"); // from "Close"
  await page.keyboard.press("Enter");
  await note("pending", "being prepared");
  const kept = await focused();
  await stop();
  await note("ready", "is ready:"); // without a reload

  await page.keyboard.press("Tab");
  const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  const zip = readFileSync(await file.path()).toString("base64");

  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await note("refused", "once a day");
  const { viewer } = await send(EXPORT, {}, session.token);
  const { requestedAt, expiresAt, bytes } = viewer.dataExport;
  const local = (time) =>
    page.evaluate((it) => new Date(it).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }), time);
  const day = Date.parse(requestedAt) + 24 * 3_600_000;
  // The gateway tells whole seconds, so the minute may be the next one.
  const times = { end: await local(expiresAt), again: [await local(day), await local(day + 2_000)] };

  await close();
  const back = await focused();
  for (const [name, alter, words] of [["expired", expired, "was removed"], ["failed", pending(late), "within a day"]]) {
    stop = await change(page, alter);
    await page.keyboard.press("Enter");
    await note(name, words);
    await close();
    await stop();
  }

  const reopened = [];
  for (const when of ["at once", "when it has left"]) {
    await entry.click();
    await dialog.waitFor();
    await page.evaluate(reopen, when);
    await page.waitForTimeout(200); // for what the browser tells later
    reopened.push(await dialog.isVisible());
    await close();
  }

  const bell = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /Notifications/ });
  await bell.filter({ hasText: "1 unread" }).waitFor();
  await bell.click();
  const news = page.locator(".notifications li").filter({ hasText: "Your data is ready" });
  await news.getByRole("link", { name: "download it" }).click();
  await note("linked", "is ready:");
  await close();
  const address = new URL(page.url());
  await context.close();
  return {
    ...{ states, broken, kept, back, reopened, times, bytes, zip, name: file.suggestedFilename(), requestedAt },
    ...{ board: board.id, username, address: address.pathname + address.hash },
  };
}
