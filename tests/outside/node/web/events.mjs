// Looks at cards, opens a pin, follows its link, leaves the page; and deletes what was recorded.
import { operationOf, profile, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const EDIT = `mutation ($input: UpdatePinInput!) { updatePin(input: $input) { errors { message } } }`;

export async function recordEvents(browser, seen, session) {
  const board = await makeBoard("Watched", ["two", "one"]);
  const [pin, other] = board.pins;
  await send(EDIT, { input: { pinId: pin, link: `${URL_BASE}/board/${board.id}` } });
  const context = await profile(browser, WIDE, session, seen);
  const page = await context.newPage();
  const calls = [];
  page.on("request", (request) => {
    const operation = operationOf(request);
    if (operation?.operationName === "RecordEvents") calls.push(operation.variables.input.events);
  });
  const leave = () =>
    page.evaluate(() => {
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
      delete document.visibilityState;
    });
  const answered = () => page.waitForResponse((response) => operationOf(response.request())?.operationName === "RecordEvents");

  await page.goto(`${URL_BASE}/pin/${other}`); // the page of a pin shows the other pins of its board
  const card = page.locator(`[data-pin="${pin}"] .card-picture`);
  await card.scrollIntoViewIfNeeded();
  await page.waitForTimeout(1_500); // cards are seen after a second on the screen
  const soon = calls.length;
  await card.click();
  await page.waitForURL(`${URL_BASE}/pin/${pin}`);
  await page.locator(".pin-words a[rel~=noreferrer]").evaluate((link) => {
    link.addEventListener("click", (event) => event.preventDefault());
    link.click();
  });
  const answer = answered();
  await leave();
  const errors = (await (await answer).json()).data.recordEvents.errors;
  await leave(); // nothing is sent twice

  await page.goto(`${URL_BASE}/user/${session.username}`);
  await page.getByRole("button", { name: "Edit profile" }).click();
  await page.getByRole("button", { name: "Delete what was recorded" }).click();
  const words = await page.getByText("What was recorded is deleted.").innerText();
  await context.close();
  const ids = new Set(board.pins);
  const events = calls.flat().filter(({ pinId }) => ids.has(pinId));
  const named = events.map(({ pinId, kind }) => `${board.pins.indexOf(pinId)} ${kind}`);
  // On a slow machine, the second page also shows the first page's pin for a second.
  const expected = named.filter((name) => name !== "1 SEEN").sort();
  return { soon, calls: calls.length, events: expected, errors, words };
}
