// Drags pins of a board with the mouse and with the keyboard.
import { operationOf, pinsOn, profile, WIDE } from "../browser.mjs";
import { makeBoard, URL_BASE } from "../support.mjs";

export async function drag(page, from, to, before) {
  const start = await page.locator(`[data-pin="${from}"]`).boundingBox();
  const end = await page.locator(`[data-pin="${to}"]`).boundingBox();
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  const x = end.x + end.width * (before ? 0.2 : 0.8);
  await page.mouse.move(x - 20, end.y + end.height / 2, { steps: 4 });
  await page.mouse.move(x, end.y + end.height / 2);
  await page.mouse.up();
}

// Drags pins of a board while another tab shows it, too.
export async function arrange(browser, seen, session) {
  const titles = ["five", "four", "three", "two", "one"]; // new pins go on top
  const { id, pins } = await makeBoard("To arrange", titles);
  const names = new Map(pins.map((pin, place) => [pin, titles[place]]));
  const context = await profile(browser, WIDE, session, seen);
  const page = await context.newPage();
  const other = await context.newPage();
  const order = async (tab) => (await pinsOn(tab, ".grid")).map((pin) => names.get(pin));
  const shows = async (tab, wanted) => {
    while ((await order(tab)).join() !== wanted.join()) await tab.waitForTimeout(50);
  };
  const mutations = [];
  page.on("request", (request) => {
    const operation = operationOf(request);
    if (operation?.operationName === "ReorderPins") mutations.push(operation.variables.input);
  });
  const answer = () =>
    page.waitForResponse((response) => operationOf(response.request())?.operationName === "ReorderPins");
  for (const tab of [page, other]) {
    await tab.goto(`${URL_BASE}/board/${id}`);
    await tab.locator(".grid [data-pin]").nth(4).waitFor();
  }
  await page.bringToFront(); // a tab in the background gets no pointer
  const found = { before: await order(page) };
  const [five, , , two, one] = pins;

  let saved = answer();
  await drag(page, one, five, false);
  found.atOnce = await order(page);
  await saved;
  await shows(other, ["two", "three", "four", "five", "one"]);
  found.dragged = await order(other);

  await page.getByLabel("Select two").check();
  await page.getByLabel("Select three").check();
  saved = answer();
  await drag(page, two, one, false);
  await saved;
  await shows(other, ["four", "five", "one", "two", "three"]);
  found.draggedTwo = await order(other);
  await page.getByRole("button", { name: "Clear" }).click();

  saved = answer();
  await page.getByRole("button", { name: "Change the place of four" }).focus();
  for (const key of ["Space", "ArrowRight", "ArrowRight", "Space"]) await page.keyboard.press(key);
  await saved;
  await shows(other, ["five", "one", "four", "two", "three"]);
  await page.reload();
  await page.locator(".grid [data-pin]").nth(4).waitFor();
  found.reloaded = await order(page);
  found.mutations = mutations.length;

  // A change that the gateway refuses is undone.
  await page.route("**/graphql", async (route) => {
    if (operationOf(route.request())?.operationName !== "ReorderPins") return route.fallback();
    const refusal = { __typename: "ReorderPinsPayload", board: null, orderVersion: null };
    const errors = [{ __typename: "UserError", message: "The board has changed." }];
    await route.fulfill({ json: { data: { reorderPins: { ...refusal, errors } } } });
  });
  await drag(page, five, two, false);
  await page.getByText("The board has changed.").waitFor();
  found.afterRefusal = await order(page);
  await page.unrouteAll({ behavior: "wait" });

  // An answer that is lost on its way: the write was done, and is sent again with its key.
  let lost = 0;
  mutations.length = 0;
  await page.route("**/graphql", async (route) => {
    if (operationOf(route.request())?.operationName !== "ReorderPins" || lost++) return route.fallback();
    await route.fetch();
    await route.abort("connectionreset");
  });
  saved = answer();
  await drag(page, five, two, false);
  await saved;
  await shows(other, ["one", "four", "two", "five", "three"]);
  found.keysOfLostAnswer = mutations.map((input) => input.idempotencyKey);
  found.afterLostAnswer = await order(page);
  await context.close();
  return found;
}
