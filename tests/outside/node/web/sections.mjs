// Arranges a board in sections: as its owner, as a collaborator, and as a stranger.
import { profile, signIn, violations, WIDE } from "../browser.mjs";
import { makeBoard, nodes, send, URL_BASE } from "../support.mjs";

const SECTIONS = `query ($id: ID!) {
  board(id: $id) {
    sections(first: 10) { edges { node { name pins(first: 10) { edges { node { title } } } } } }
  }
}`;
const INVITE = `mutation ($input: CollaboratorInput!) { inviteCollaborator(input: $input) { errors { message } } }`;
const ACCEPT = `mutation ($input: MembershipInput!) { acceptInvitation(input: $input) { errors { message } } }`;
const CREATE = `mutation ($input: CreateSectionInput!) { createSection(input: $input) { section { id } } }`;
const DELETE = `mutation ($input: DeleteSectionInput!) { deleteSection(input: $input) { errors { message } } }`;
const VIEWER = `{ viewer { id } }`;

const NAME = `Dishes ${Date.now()}`; // a name that no board of an earlier run has

// Returns the stored sections in order: [[name, ...titles], ...].
async function stored(id, token) {
  const { board } = await send(SECTIONS, { id }, token);
  return nodes(board.sections).map(({ name, pins }) => [name, ...nodes(pins).map(({ title }) => title)]);
}

// Returns the sections on the page, in the same form.
const shown = (page) =>
  page.locator("[data-section]").evaluateAll((sections) =>
    sections.map((section) => [
      section.querySelector("h2").textContent,
      ...[...section.querySelectorAll(".card-title")].map((title) => title.textContent),
    ]),
  );

const inDialog = (page, name) => page.getByRole("dialog").getByRole("button", { name, exact: true });
const section = (page, name) => page.getByRole("region", { name: `Section ${name}`, exact: true });
const pinIn = (page, name, title) => section(page, name).locator(".card-title", { hasText: title });

async function add(page, name) {
  await page.getByRole("button", { name: "Add a section" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await inDialog(page, "Add").click();
  await section(page, name).waitFor();
}

async function putInto(page, within, title, name) {
  await within.getByRole("button", { name: `Choose the section of ${title}` }).click();
  await inDialog(page, name).click();
}

export async function divide(browser, seen) {
  const [owner, guest, stranger] = [await signIn("leila_nasser"), await signIn("rosa_aziz"), await signIn("demo")];
  const board = await makeBoard(NAME, ["three", "two", "one"], { token: owner.token });
  const foreign = await makeBoard("Elsewhere", ["another", "a stranger's"], { token: stranger.token });
  const found = { broken: [] };
  const context = await profile(browser, WIDE, owner, seen);
  const page = await context.newPage();
  const wall = page.getByRole("list", { name: `Pins of ${NAME}`, exact: true });
  await page.goto(`${URL_BASE}/board/${board.id}`);

  await putOnEmpty(page, wall);
  await add(page, "Soups");
  await add(page, "Cakes");
  found.added = await shown(page);
  await page.getByRole("button", { name: "Move Cakes down" }).click();
  await page.getByText("Cakes is now section 2 of 2.").waitFor({ state: "attached" });
  found.focus = await page.evaluate(() => document.activeElement.textContent);
  found.ordered = await shown(page);
  await page.getByRole("button", { name: "Edit the section Cakes" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Tarts");
  await inDialog(page, "Save").click();
  await section(page, "Tarts").waitFor();
  for (const title of ["one", "two"]) {
    await putInto(page, wall, title, "Soups");
    await pinIn(page, "Soups", title).waitFor();
  }
  found.filled = await shown(page);
  found.storedFilled = await stored(board.id, owner.token);
  found.broken.push(...(await violations(page)));

  found.guest = await collaborate(browser, seen, { board, owner, guest });
  found.stranger = await look(browser, seen, board, stranger);
  await saveInto(page, foreign.pins[1]);
  await saveIntoDeleted(page, foreign.pins[0], board, owner);
  found.saved = await stored(board.id, owner.token);
  await create(page);
  found.created = await stored(board.id, owner.token);

  // A deleted pin leaves its section, and a deleted section leaves its pins, without a reload.
  await page.goto(`${URL_BASE}/board/${board.id}`);
  await pinIn(page, "Soups", "two").waitFor();
  await section(page, "Soups").getByRole("link", { name: "two" }).click();
  await page.locator(".pin-words").getByRole("button", { name: "Delete" }).click();
  await section(page, "Soups").waitFor();
  found.afterDeletedPin = await section(page, "Soups").locator(".row").innerText();
  await page.getByRole("button", { name: "Edit the section Tarts" }).click();
  await page.getByRole("button", { name: "Delete the section" }).click();
  found.asked = await page.getByRole("alert").locator("span").innerText();
  await inDialog(page, "Delete").click();
  await section(page, "Tarts").waitFor({ state: "detached" });
  found.left = await shown(page);
  found.storedLeft = await stored(board.id, owner.token);
  found.onBoard = (await wall.locator(".card-title").allInnerTexts()).sort();
  await context.close();
  return found;
}

// A board without sections says how to begin.
async function putOnEmpty(page, wall) {
  await wall.getByRole("button", { name: "Choose the section of one" }).click();
  await page.getByText("Add a section to the board first.").waitFor();
}

// The collaborator moves a pin to another section, and out of it.
async function collaborate(browser, seen, { board, owner, guest }) {
  const { viewer } = await send(VIEWER, {}, guest.token);
  await send(INVITE, { input: { boardId: board.id, userId: viewer.id } }, owner.token);
  await send(ACCEPT, { input: { boardId: board.id } }, guest.token);
  const context = await profile(browser, WIDE, guest, seen);
  const page = await context.newPage();
  await page.goto(`${URL_BASE}/board/${board.id}`);
  await pinIn(page, "Soups", "one").waitFor();
  await putInto(page, section(page, "Soups"), "one", "Tarts");
  await pinIn(page, "Tarts", "one").waitFor();
  const moved = await stored(board.id, owner.token);
  await putInto(page, section(page, "Tarts"), "one", "No section");
  await pinIn(page, "Tarts", "one").waitFor({ state: "detached" });
  const back = await shown(page);
  const buttons = await page.getByRole("button", { name: /Add a section|Edit the section/ }).count();
  await context.close();
  return { moved, back, storedBack: await stored(board.id, owner.token), buttons };
}

async function look(browser, seen, board, stranger) {
  const context = await profile(browser, WIDE, stranger, seen);
  const page = await context.newPage();
  await page.goto(`${URL_BASE}/board/${board.id}`);
  await pinIn(page, "Soups", "two").waitFor();
  const sections = await shown(page);
  const changes = /Add a section|Edit the section|Choose the section|Move .* (up|down)/;
  const buttons = await page.getByRole("button", { name: changes }).count();
  await context.close();
  return { sections, buttons };
}

async function openSave(page, pinId) {
  await page.goto(`${URL_BASE}/pin/${pinId}`);
  await page.locator(".pin-words").getByRole("button", { name: "Save" }).click();
  await inDialog(page, NAME).click();
}

// Chooses a section that was deleted after the dialog had read it: the pin is saved nowhere.
async function saveIntoDeleted(page, pinId, board, owner) {
  const { createSection } = await send(CREATE, { input: { boardId: board.id, name: "Gone" } }, owner.token);
  await openSave(page, pinId);
  await inDialog(page, "Gone").waitFor();
  await send(DELETE, { input: { sectionId: createSection.section.id } }, owner.token);
  await inDialog(page, "Gone").click();
  await page.getByText(/There is no section \d+ on the board/).waitFor();
}

async function saveInto(page, pinId) {
  await openSave(page, pinId);
  await inDialog(page, "Tarts").click();
  await page.getByText("Saved to Tarts.").waitFor();
}

async function create(page) {
  await page.goto(`${URL_BASE}/new`);
  await page.getByLabel("Title").fill("made here");
  await page.getByRole("button", { name: NAME, exact: true }).click();
  await page.getByRole("button", { name: "Tarts", exact: true }).click();
  await page.waitForURL(/\/pin\//);
}
