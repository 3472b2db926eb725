// Acts as a person in front of the web client, in Chromium, and says what the pages showed.
import { launch, newSeen, operationOf, pinsOn, PHONE, profile, signIn, violations, WIDE } from "./browser.mjs";
import { makeBoard, report, URL_BASE } from "./support.mjs";

const CREATE_PIN = `mutation ($input: CreatePinInput!) {
  createPin(input: $input) { pin { id } errors { message } }
}`;

// Chooses the first demo user, and scrolls the home feed through some pages of it.
async function scroll(browser, seen) {
  const context = await profile(browser, WIDE, null, seen);
  const page = await context.newPage();
  const answered = [];
  page.on("response", async (response) => {
    if (operationOf(response.request())?.operationName !== "HomeFeed") return;
    const { data } = (await response.json().catch(() => null)) ?? {}; // the browser has closed
    if (data) answered.push(data.homeFeed.edges.length);
  });
  await page.goto(URL_BASE);
  await page.getByRole("link", { name: "Choose who you are" }).click();
  await page.getByRole("button", { name: "Demo Viewer" }).click();
  await page.getByRole("link", { name: "Profile" }).waitFor();
  answered.length = 0;
  await page.reload();
  await page.locator("[data-pin] img").first().waitFor();
  const reasons = await page.locator(".card-reason").allInnerTexts();
  let most = 0;
  while (answered.length < 6) {
    most = Math.max(most, await page.locator("[data-pin]").count());
    const asked = answered.length;
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    while (answered.length === asked) await page.waitForTimeout(20);
  }
  // A window that all cards are near, so that all of them are in the document. A later visit
  // repeats pins of the visits before: the client leaves those out.
  const pages = answered.slice(0, 6);
  await page.setViewportSize({ width: 1280, height: 16_000 });
  await page.waitForFunction((few) => document.querySelectorAll("[data-pin]").length > few, most);
  const pins = await pinsOn(page, ".wall");
  await context.close();
  return { pages, pins, reasons, mostInDocument: most };
}

async function drag(page, from, to, before) {
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
async function arrange(browser, seen, session) {
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

// Follows somebody, sees their pins, and then a pin that they make.
async function follow(browser, seen) {
  const reader = await signIn("rosa_aziz");
  const [writer] = [await signIn("leila_nasser")];
  const send = async (token, query, variables) => {
    const response = await fetch(`${URL_BASE}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()).data;
  };
  const made = await send(
    writer.token,
    `mutation { createBoard(input: { name: "New things" }) { board { id } errors { message } } }`,
  );
  const boardId = made.createBoard.board.id;
  const create = (title) => send(writer.token, CREATE_PIN, { input: { boardId, title } });
  await create("Pinned before");
  const context = await profile(browser, WIDE, reader, seen);
  const page = await context.newPage();
  await page.goto(`${URL_BASE}/user/${writer.username}`);
  const button = page.getByRole("main").getByRole("button", { name: /^Follow/ });
  await button.waitFor();
  if ((await button.getAttribute("aria-pressed")) === "true") await button.click();
  await page.getByRole("button", { name: /^Follow Leila/ }).click();
  await page.getByRole("button", { name: /^Following Leila/ }).waitFor();
  await page.getByRole("link", { name: "Following", exact: true }).click();
  const first = page.locator("[data-pin]").first();
  await page.getByRole("link", { name: "Pinned before" }).first().waitFor();
  const owner = await first.locator(".card-owner").innerText();
  await page.waitForResponse((response) => operationOf(response.request())?.operationName === "NewestPins");
  await create("Pinned after");
  // The page asks now and then, and when it is looked at again.
  let pill = page.getByRole("button", { name: /new pin/ });
  while (!(await pill.count())) {
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    await page.waitForTimeout(100);
  }
  const words = await pill.innerText();
  await pill.click();
  await page.getByRole("link", { name: "Pinned after" }).first().waitFor();
  await context.close();
  return { owner, words };
}

// Every screen, in light and wide, and in dark on a phone.
async function look(browser, seen, session) {
  const board = await makeBoard("To look at", ["a pin"]);
  const screens = {
    home: ["/", "[data-pin]"],
    following: ["/following", "[data-pin]"],
    pin: [`/pin/${board.pins[0]}`, ".pin-page"],
    board: [`/board/${board.id}`, ".grid [data-pin]"],
    profile: ["/user/demo", ".board-card"],
    new: ["/new", ".picker-list button"],
    signIn: ["/sign-in", ".people button"],
    absent: ["/pin/1", "h1"],
  };
  const found = {};
  const looks = [
    ["light", { ...WIDE, colorScheme: "light" }],
    ["phone", { ...PHONE, colorScheme: "dark" }],
  ];
  for (const [kind, options] of looks) {
    const context = await profile(browser, options, session, seen);
    const page = await context.newPage();
    for (const [name, [path, there]] of Object.entries(screens)) {
      await page.goto(URL_BASE + path);
      await page.locator(there).first().waitFor();
      const broken = await violations(page);
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (broken.length || tooWide) found[`${name}, ${kind}`] = [...broken, ...(tooWide ? ["too wide"] : [])];
    }
    await context.close();
  }
  return found;
}

await report(async () => {
  const seen = newSeen();
  const only = process.env.ONLY; // one part, while somebody works on it
  const browser = await launch();
  try {
    const session = await signIn("demo");
    if (!only || only === "scroll") seen.scroll = await scroll(browser, seen);
    if (!only || only === "board") seen.board = await arrange(browser, seen, session);
    if (!only || only === "follow") seen.follow = await follow(browser, seen);
    if (!only || only === "looks") seen.looks = await look(browser, seen, session);
  } finally {
    await browser.close();
  }
  return { ...seen, hosts: [...seen.hosts] };
});
