// Mutes a person, blocks them, and ends it on the own profile, as what is hidden and seen less there.
import { profile, violations, WIDE } from "../browser.mjs";
import { send, URL_BASE } from "../support.mjs";

const SIGN_UP = `mutation ($input: SignUpInput!) { signUp(input: $input) { user { id } errors { message } } }`;
const USER = `query ($name: String!) { user(username: $name) { viewerMutes } }`;
const KEEP_AWAY = `mutation ($user: MuteUserInput!, $pin: HidePinInput!, $less: FeedPreferenceInput!) {
  muteUser(input: $user) { errors { message } }
  hidePin(input: $pin) { errors { message } }
  seeLess(input: $less) { errors { message } } }`;
const KEPT = `{ mutedUsers { edges { node { id } } } hiddenPins { edges { node { id } } } seenLess { edges { node { id } } } }`;

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

  const { user } = await send(`query ($name: String!) { user(username: $name) { id } }`, { name: username });
  const { pins } = await send(`{ pins(first: 1) { edges { node { id title } } } }`);
  const pin = pins.edges[0].node;
  await send(KEEP_AWAY, { user: { userId: user.id }, pin: { pinId: pin.id }, less: { id: user.id } });
  await page.reload();
  const buttons = [
    ["Muted", `Unmute ${username}`],
    ["Hidden pins", `Show again ${pin.title || "A pin without a title"}`],
    ["Less in your home feed", `As usual ${username}`],
  ].map(([title, name]) => [title, page.getByRole("region", { name: title }).getByRole("button", { name })]);
  for (const [, button] of buttons) await button.waitFor();
  broken.push(...(await violations(page))); // before a message lies over the page's links
  const ended = [];
  for (const [title, button] of buttons) {
    await button.click();
    await button.waitFor({ state: "detached" });
    ended.push(title);
  }
  const kept = Object.values(await send(KEPT)).flatMap(({ edges }) => edges.map(({ node }) => node.id));
  const left = kept.filter((id) => id === user.id || id === pin.id);
  await context.close();
  return { muted, unmuted, asked: asked.replace(username, "NAME"), hidden, absent, back, ended, left, broken };
}
