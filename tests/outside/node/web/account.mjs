// Joins, makes a board, changes the user name, signs out everywhere, and deletes the account.
import { newSeen, profile, signIn, violations, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const SIGN_UP = `mutation ($input: SignUpInput!) { signUp(input: $input) { user { id } errors { message } } }`;
const LEFT = `query ($name: String!, $board: ID!) { user(username: $name) { id } board(id: $board) { id } }`;

export async function deleteAccount(browser, seen) {
  const first = `brief_${Date.now().toString(36)}`;
  const username = `${first}_b`;
  await send(SIGN_UP, { input: { username: first } }, "");
  const { renamed, signedOut } = await renameAndSignOut(browser, seen, first, username);
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
  return { renamed, signedOut, before, broken, left, status: again.status };
}

async function signedIn(browser, seen, session) {
  const context = await profile(browser, WIDE, null, seen);
  const page = await context.newPage();
  await page.goto(URL_BASE);
  await page.evaluate((kept) => localStorage.setItem("pinway:session", kept), JSON.stringify(session));
  return { context, page };
}

async function renameAndSignOut(browser, seen, first, username) {
  const session = await signIn(first);
  const here = await signedIn(browser, seen, session);
  // Another device. Its refused request is an error in its console.
  const there = await signedIn(browser, newSeen(), session);
  const { page } = here;
  const address = () => new URL(page.url()).pathname;

  await page.goto(`${URL_BASE}/user/${first}`);
  await page.getByRole("button", { name: "Edit profile" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("User name").fill("demo");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("The user name demo is taken").waitFor();
  await dialog.getByLabel("User name").fill(username.toUpperCase());
  const loaded = page.waitForEvent("load"); // the address may change a moment earlier
  await dialog.getByRole("button", { name: "Save" }).click();
  await loaded;
  await page.waitForURL(`**/user/${username}`);
  const kept = JSON.parse(await page.evaluate(() => localStorage.getItem("pinway:session"))).username;
  await page.goto(`${URL_BASE}/user/${first}`); // a link by the old name
  await page.waitForURL(`**/user/${username}`);
  await page.getByRole("button", { name: "Edit profile" }).waitFor();
  const renamed = { kept: kept === username, led: address() === `/user/${username}` };

  await there.page.goto(`${URL_BASE}/user/${first}`);
  await there.page.getByRole("button", { name: "Edit profile" }).waitFor();
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  const broken = await violations(page);
  await page.getByRole("alert").getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("link", { name: "Choose who you are" }).waitFor();
  await there.page.reload();
  await there.page.getByRole("link", { name: "Choose who you are" }).waitFor();
  const left = await there.page.evaluate(() => localStorage.getItem("pinway:session"));
  await here.context.close();
  await there.context.close();
  return { renamed, signedOut: { broken, left } };
}
