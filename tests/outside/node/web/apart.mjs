// Mutes a person, blocks them, and unblocks them on the own profile.
import { profile, violations, WIDE } from "../browser.mjs";
import { send, URL_BASE } from "../support.mjs";

const SIGN_UP = `mutation ($input: SignUpInput!) { signUp(input: $input) { user { id } errors { message } } }`;
const USER = `query ($name: String!) { user(username: $name) { viewerMutes } }`;

export async function keepApart(browser, seen, session) {
  const username = `loud_${Date.now().toString(36)}`;
  await send(SIGN_UP, { input: { username } }, "");
  const context = await profile(browser, WIDE, session, seen);
  const page = await context.newPage();
  const mutes = async () => (await send(USER, { name: username })).user?.viewerMutes ?? null;

  await page.goto(`${URL_BASE}/user/${username}`);
  await page.getByRole("button", { name: `Mute ${username}` }).click();
  await page.getByText(`Your feeds show no pins of ${username}.`).waitFor();
  const muted = await mutes();
  await page.getByRole("button", { name: `Muted ${username}` }).click();
  await page.getByText(`Your feeds show pins of ${username} again.`).waitFor();
  const unmuted = await mutes();

  await page.getByRole("button", { name: `Block ${username}` }).click();
  const question = page.getByRole("alert").filter({ hasText: "Block" });
  const asked = await question.locator("span").innerText();
  const broken = await violations(page);
  await question.getByRole("button", { name: "Block", exact: true }).click();
  await page.waitForURL(`${URL_BASE}/`);
  const hidden = await mutes();
  await page.goto(`${URL_BASE}/user/${username}`);
  const absent = await page.getByText("There is no such person").innerText();

  await page.goto(`${URL_BASE}/user/${session.username}`);
  const list = page.getByRole("region", { name: "Blocked" });
  await list.waitFor();
  broken.push(...(await violations(page)));
  await list.getByRole("button", { name: `Unblock ${username}` }).click();
  await list.waitFor({ state: "detached" });
  const back = await mutes();
  await context.close();
  return { muted, unmuted, asked: asked.replace(username, "NAME"), hidden, absent, back, broken };
}
