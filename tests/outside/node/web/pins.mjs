// Does what a person can do with pins: like, comment, save, hide, move, create; and a secret board.
import { answered, pinsOn, profile, signIn, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const PIN = `query ($id: ID!) {
  pin(id: $id) { title image { url width height } board { name } viewerHasLiked commentCount }
}`;
const BOARD = `query ($id: ID!) { board(id: $id) { pins(first: 10) { edges { node { title } } } } }`;

const PRESENTS = `Presents ${Date.now()}`;
const ELSEWHERE = `Elsewhere ${Date.now()}`; // a name that no board of an earlier run has

const pinOf = async (id) => (await send(PIN, { id })).pin;
const titlesOf = async (id) => (await send(BOARD, { id })).board.pins.edges.map(({ node }) => node.title);

export async function usePins(browser, seen, session) {
  const { homeFeed } = await send("{ homeFeed(first: 1) { edges { node { image { url } } } } }");
  const image = { url: homeFeed.edges[0].node.image.url };
  const from = await makeBoard("Kept", ["gamma", "beta", "alpha"], { image });
  const to = await makeBoard(ELSEWHERE, []);
  const context = await profile(browser, WIDE, session, seen);
  const page = await context.newPage();
  const found = {};
  found.pin = await readPin(page, from.pins[2]);
  found.saved = await save(page, to.id);
  found.hidden = await hide(page);
  found.moved = await move(page, from, to);
  found.created = await create(page, image.url);
  found.secret = await keepSecret(browser, seen, page);
  await context.close();
  return { ...found, image: image.url, elsewhere: ELSEWHERE };
}

// Reads a pin's page, likes the pin, and comments on it.
async function readPin(page, id) {
  await page.goto(`${URL_BASE}/pin/${id}`);
  const related = page.getByRole("region", { name: "Related pins" });
  await related.locator(".card-title").nth(1).waitFor();
  const titles = await related.locator(".card-title").allInnerTexts();
  const like = page.locator(".pin-words").getByRole("button", { name: /^Like/ });
  await like.click();
  await page.locator('.pin-words .like[aria-pressed="true"]').waitFor();
  await page.getByLabel("Your comment").fill("Lovely");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("heading", { name: "1 comment" }).waitFor();
  await page.reload();
  await page.locator(".comments li").waitFor();
  const liked = await like.getAttribute("aria-pressed");
  const comments = await page.locator(".comments li").allInnerTexts();
  return { related: titles, liked, comments, stored: await pinOf(id) };
}

const choose = (page, board) => page.getByRole("dialog").getByRole("button", { name: board, exact: true }).click();

// Saves the first pin of the home feed.
async function save(page, boardId) {
  await page.goto(URL_BASE);
  const card = page.locator(".wall [data-pin]").first();
  await card.hover();
  const title = await card.locator(".card-title").innerText();
  await card.getByRole("button", { name: /^Save/ }).click();
  await choose(page, ELSEWHERE);
  await page.getByText(`Saved to ${ELSEWHERE}.`).waitFor();
  return { title, stored: await titlesOf(boardId) };
}

// Hides a pin and brings it back; then hides it over a reload.
async function hide(page) {
  await page.locator(".wall [data-pin]").nth(3).waitFor();
  const [id] = await pinsOn(page, ".wall");
  const cell = page.locator(`[data-pin="${id}"]`);
  const press = async () => {
    await cell.hover();
    await cell.getByRole("button", { name: /^Hide/ }).click();
    await cell.waitFor({ state: "detached" });
  };
  await press();
  // The client sends the undoing after the answer to the hiding, so no answer to that is left.
  await answered(page, "UnhidePin", () => page.getByRole("button", { name: "Undo" }).click());
  await cell.waitFor();
  await answered(page, "HidePin", press);
  await page.reload();
  await page.locator(".wall [data-pin]").nth(3).waitFor();
  return { id, after: await pinsOn(page, ".wall") };
}

// Moves one pin from its page, then two from their board.
async function move(page, from, to) {
  await page.goto(`${URL_BASE}/pin/${from.pins[0]}`);
  await page.getByRole("button", { name: "Move", exact: true }).click();
  await choose(page, ELSEWHERE);
  await page.getByText(`Moved to ${ELSEWHERE}.`).waitFor();
  const words = page.locator(".pin-words").getByRole("link", { name: ELSEWHERE });
  await words.first().waitFor(); // the page is drawn after the message
  const link = await words.count();
  await page.goto(`${URL_BASE}/board/${from.id}`);
  await page.getByLabel("Select alpha").check();
  await page.getByLabel("Select beta").check();
  await page.getByRole("button", { name: "Move 2 to another board" }).click();
  await choose(page, ELSEWHERE);
  await page.getByText(`Moved 2 pins to ${ELSEWHERE}.`).waitFor();
  const left = await page.locator(".grid [data-pin]").count();
  return { link, left, stored: (await titlesOf(to.id)).slice(0, 3) };
}

// A PNG of 20 x 40 gray pixels.
const OWN = {
  name: "own.png",
  mimeType: "image/png",
  buffer: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAABQAAAAoCAAAAADbWoUHAAAAF0lEQVR42mNsYMAETAyjgqOCo4IkCAIAKiYA0OMNN08AAAAASUVORK5CYII=",
    "base64",
  ),
};

// Creates a pin from the address of a picture, one from a picture that the viewer likes, and one from
// an uploaded picture.
async function create(page, url) {
  const made = [];
  for (const title of ["By address", "From a picture", "Of one's own"]) {
    await page.goto(`${URL_BASE}/new`);
    await page.getByLabel("Title").fill(title);
    if (title === "By address") await page.getByLabel("Address of the picture").fill(url);
    else if (title === "Of one's own") await page.getByLabel("A picture of yours").setInputFiles(OWN);
    else await page.getByRole("group").getByRole("button", { name: "alpha" }).first().click();
    await page.locator(".create-picture img").waitFor();
    await page.locator(".picker-list").getByRole("button", { name: ELSEWHERE, exact: true }).click();
    await page.waitForURL(/\/pin\/\d+$/);
    made.push(await pinOf(page.url().split("/").pop()));
  }
  return made;
}

// Makes a secret board, which says so, and which nobody else finds, as little as an id that there is not.
async function keepSecret(browser, seen, page) {
  await page.goto(`${URL_BASE}/user/demo`);
  await page.getByLabel("Name of a new board").fill(PRESENTS);
  await page.getByLabel("Secret").check();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const card = page.locator(".board-card", { hasText: PRESENTS });
  const badge = await card.locator(".badge").innerText();
  await card.click();
  const title = await page.getByRole("heading", { level: 1, name: new RegExp(`^${PRESENTS}`) }).innerText();
  const address = page.url();
  const context = await profile(browser, WIDE, await signIn("rosa_aziz"), seen);
  const stranger = await context.newPage();
  await stranger.goto(address);
  await stranger.getByRole("heading", { name: /^There is no such/ }).waitFor();
  const told = await stranger.getByRole("heading", { level: 1 }).innerText();
  const absent = [told];
  for (const address of ["/pin/abc", "/pin/99", "/board/0"]) {
    await stranger.goto(`${URL_BASE}${address}`);
    const heading = stranger.getByRole("heading", { level: 1, name: /^(There is no|This)/ });
    absent.push(await heading.innerText());
  }
  await context.close();
  return { badge, title: title.replace(PRESENTS, "").trim(), absent };
}
