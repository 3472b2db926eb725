// Joins, makes a board, and deletes the account.
import { profile, signIn, violations, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const SIGN_UP = `mutation ($input: SignUpInput!) { signUp(input: $input) { user { id } errors { message } } }`;
const LEFT = `query ($name: String!, $board: ID!) { user(username: $name) { id } board(id: $board) { id } }`;

export async function deleteAccount(browser, seen) {
  const username = `brief_${Date.now().toString(36)}`;
  await send(SIGN_UP, { input: { username } }, "");
  const session = await signIn(username);
  const board = await makeBoard("Short", ["one"], { token: session.token });
  const context = await profile(browser, WIDE, null, seen);
  const page = await context.newPage();
  await page.goto(URL_BASE);
  await page.evaluate((kept) => localStorage.setItem("pinway:session", kept), JSON.stringify(session));
  await page.goto(`${URL_BASE}/user/${username}`);
  await page.getByRole("button", { name: "Delete account" }).click();
  const dialog = page.getByRole("dialog");
  const confirm = dialog.getByRole("button", { name: "Delete account" });
  const before = await confirm.isDisabled();
  await dialog.getByLabel(`Type ${username} to go on`).fill(username);
  const broken = await violations(page);
  await confirm.click();
  await page.getByRole("link", { name: "Choose who you are" }).waitFor();
  const left = await send(LEFT, { name: username, board: board.id }, "");
  const again = await fetch(`${URL_BASE}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${session.token}` },
    body: JSON.stringify({ query: "{ viewer { id } }" }),
  });
  await context.close();
  return { before, broken, left, status: again.status };
}
