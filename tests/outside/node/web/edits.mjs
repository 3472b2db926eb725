// Edits the own profile and a board, and deletes the board.
import { gone, profile, violations, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const USER = `query ($name: String!) { user(username: $name) { fullName about email avatar { url } boardCount } }`;
const BOARD = `query ($id: ID!) { board(id: $id) { name description secret } }`;

export async function edit(browser, seen, session) {
  const { username } = session;
  const { user: was } = await send(USER, { name: username });
  const board = await makeBoard("Bread", ["a loaf", "a roll"]);
  const context = await profile(browser, WIDE, session, seen);
  const page = await context.newPage();
  const dialog = page.getByRole("dialog");
  const save = async (words) => {
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText(words).waitFor();
    await gone(page);
  };

  await page.goto(`${URL_BASE}/user/${username}`);
  await page.getByRole("button", { name: "Edit profile" }).click();
  const broken = await violations(page);
  await dialog.getByLabel("Name", { exact: true }).fill("Somebody Else");
  await dialog.getByLabel("About you").fill("Bakes.\nReads.");
  await dialog.getByLabel("Address of your picture").fill("ftp://pictures.example/me");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(/it needs an http/).waitFor();
  await dialog.getByLabel("Address of your picture").fill(was.avatar?.url ?? "");
  await dialog.getByLabel("E-mail address").fill("somebody@nowhere");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(/is not an e-mail address/).waitFor();
  await dialog.getByLabel("E-mail address").fill("Somebody@Example.org");
  await save("Your profile is saved.");
  const heading = await page.getByRole("heading", { level: 1 }).innerText();
  const { user: now } = await send(USER, { name: username });
  // Everything as before, for the tests that come after.
  await page.getByRole("button", { name: "Edit profile" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill(was.fullName);
  await dialog.getByLabel("About you").fill(was.about);
  await dialog.getByLabel("E-mail address").fill(" ");
  await save("Your profile is saved.");
  const left = (await send(USER, { name: username })).user.email;

  await page.goto(`${URL_BASE}/board/${board.id}`);
  await page.getByRole("button", { name: "Edit board" }).click();
  broken.push(...(await violations(page)));
  await dialog.getByLabel("Name", { exact: true }).fill("Cake");
  await dialog.getByLabel("Description").fill("Sweet.");
  await dialog.getByLabel("Secret").check();
  await save("The board is saved.");
  const shown = await page.getByRole("heading", { level: 1 }).innerText();
  const { board: changed } = await send(BOARD, { id: board.id });

  await page.getByRole("button", { name: "Edit board" }).click();
  await dialog.getByRole("button", { name: "Delete the board" }).click();
  const asked = await dialog.getByRole("alert").innerText();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Cake is deleted.").waitFor();
  const at = new URL(page.url()).pathname;
  const cards = await page.locator(".board-card").allInnerTexts();
  await context.close();
  const { boardCount } = (await send(USER, { name: username })).user;
  return {
    heading,
    now,
    left,
    changed,
    asked: asked.split("\n")[0],
    broken,
    shown,
    at: at === `/user/${username}`,
    listed: cards.some((text) => text.includes("Cake")),
    boards: boardCount - was.boardCount,
  };
}
