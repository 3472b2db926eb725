// Signs in, follows somebody, makes a board and orders its pins with the keyboard alone.
import { errors } from "playwright-core";
import { accepted, answered, operationOf, pinsOn, profile, WIDE } from "../browser.mjs";
import { URL_BASE } from "../support.mjs";

const SECONDS = 10;
const MOST = 150; // presses of Tab that a person may need to reach something

// What has the focus, as a screen reader names it: "" where nothing has.
const focused = (page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    if (!at || at === document.body) return "";
    const label = at.getAttribute("aria-label");
    if (label) return label;
    const copy = at.cloneNode(true);
    for (const part of copy.querySelectorAll("[aria-hidden=true]")) part.remove();
    return copy.textContent.trim().replace(/\s+/g, " ");
  });

// Whether something with such a name gets the focus within seconds. The page moves the focus after it has
// drawn a change, and the script may look between the two.
async function getsFocus(page, wanted) {
  const until = Date.now() + SECONDS * 1000;
  while (!wanted(await focused(page))) {
    if (Date.now() > until) return false;
    await page.waitForTimeout(10);
  }
  return true;
}

// Presses Tab until something has the focus whose name is as wanted; its name.
async function tabTo(page, wanted, key = "Tab") {
  const names = [];
  while (names.length < MOST) {
    await page.keyboard.press(key);
    const name = await focused(page);
    if (wanted.test(name)) return name;
    names.push(name);
  }
  throw new Error(`no ${wanted} within ${MOST} presses of ${key}: the last ones were ${names.slice(-5).join(" | ")}`);
}

// Presses Enter on what has such a name, until a dialog is open; the name. The feed is drawn anew after
// somebody was followed, and a card may leave the page just before the key is pressed.
async function openWith(page, wanted) {
  for (let tries = 0; tries < 5; tries += 1) {
    const name = await tabTo(page, wanted);
    await page.keyboard.press("Enter");
    try {
      await page.getByRole("dialog").waitFor({ timeout: 5000 });
      return name;
    } catch (error) {
      if (!(error instanceof errors.TimeoutError)) throw error;
    }
  }
  throw new Error(`no dialog after Enter on ${wanted}`);
}

// Saves a pin with what has such a name in the dialog, after a text; the name of what opened the dialog.
// The dialog leaves the page with its card, perhaps just before a key is pressed.
async function saveWith(page, wanted, text = "") {
  const sent = (request) => operationOf(request)?.operationName === "Repin";
  const gone = [];
  for (let tries = 0; tries < 5; tries += 1) {
    const opener = await openWith(page, /^Save /);
    try {
      await tabTo(page, wanted);
      await page.keyboard.type(text);
      const [request] = await Promise.all([
        page.waitForRequest(sent, { timeout: 10_000 }),
        page.keyboard.press("Enter"),
      ]);
      await accepted("Repin", await request.response());
      return opener;
    } catch (error) {
      if (await page.getByRole("dialog").isVisible()) throw error;
      gone.push(error.message);
    }
  }
  throw new Error(`no pin is saved with ${wanted}: ${gone.join("; ")}`);
}

// `lost`: where nothing had the focus after a step.
export async function useKeys(browser, seen) {
  const context = await profile(browser, WIDE, null, seen);
  const page = await context.newPage();
  const lost = [];
  const look = async (step) => {
    if (!(await getsFocus(page, (name) => name))) lost.push(step);
  };
  const board = `Keys ${Date.now()}`;
  await page.goto(URL_BASE);
  await tabTo(page, /^Choose who you are$/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Who are you?" }).waitFor();
  await page.locator(".people button").nth(3).waitFor();
  await look("another screen");
  await tabTo(page, / @(?!demo$)/); // not the user whose screens are looked at later
  await page.keyboard.press("Enter");

  await page.locator(".follow-card").first().waitFor();
  const follow = await tabTo(page, /^Follow /);
  await answered(page, "FollowUser", () => page.keyboard.press("Enter"));
  const name = follow.replace("Follow ", "");
  const following = page.locator(".follow-card").getByRole("button", { name: `Following ${name}` });
  await following.waitFor();
  const follows = await focused(page);

  // The first pin makes the board, the second joins it.
  for (const place of [0, 1]) {
    await page.locator(".wall [data-pin]").nth(place + 1).waitFor();
    const save =
      place === 0
        ? await saveWith(page, /^Name of a new board$/, board)
        : await saveWith(page, new RegExp(`^${board}$`));
    if (!(await getsFocus(page, (name) => name === save))) lost.push(`saving ${place}`);
  }

  // A pin that is hidden is brought back.
  const hide = await tabTo(page, /^Hide /);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Undo" }).waitFor();
  if (!(await getsFocus(page, (name) => name === "Undo"))) lost.push("hiding");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: hide }).waitFor();
  await look("the pin that came back");
  const back = (await tabTo(page, /^Hide /)) === hide;

  await page.reload();
  await page.getByRole("link", { name: "Profile" }).waitFor();
  await tabTo(page, /^Profile$/);
  await page.keyboard.press("Enter");
  await page.locator(".board-card", { hasText: board }).waitFor();
  await look("a profile");
  await tabTo(page, new RegExp(`^${board}`));
  await page.keyboard.press("Enter");
  await page.locator(".grid [data-pin]").nth(1).waitFor();
  await look("a board");
  const before = await pinsOn(page, ".grid");
  await tabTo(page, /^Change the place of /);
  await answered(page, "ReorderPins", async () => {
    for (const key of ["Space", "ArrowRight", "Space"]) await page.keyboard.press(key);
  });
  await look("moving a pin");
  await page.reload();
  await page.locator(".grid [data-pin]").nth(1).waitFor();
  const after = await pinsOn(page, ".grid");
  await context.close();
  return { followed: name, follows, back, before, after, lost };
}
