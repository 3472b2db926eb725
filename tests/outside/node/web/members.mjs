// Shares a board: the owner invites a user, who accepts, orders its pins, and leaves.
import { profile, signIn, violations, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const ROLE = `query ($id: ID!) { board(id: $id) { viewerRole } }`;

export async function share(browser, seen) {
  const [owner, guest] = [await signIn("leila_nasser"), await signIn("rosa_aziz")];
  const board = await makeBoard("Shared", ["one", "two"], { token: owner.token });
  const at = `${URL_BASE}/board/${board.id}`;
  const context = await profile(browser, WIDE, owner, seen);
  const page = await context.newPage();
  const dialog = page.getByRole("dialog");
  await page.goto(at);
  await page.getByRole("button", { name: "Share" }).click();
  await dialog.getByLabel("User name").fill("nobody_at_all");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await page.getByText("There is no user nobody_at_all.").waitFor();
  await dialog.getByLabel("User name").fill("@rosa_aziz");
  await dialog.getByRole("button", { name: "Invite" }).click();
  await dialog.getByText("(invited)").waitFor();
  const broken = await violations(page);

  const there = await profile(browser, WIDE, guest, seen);
  const other = await there.newPage();
  await other.goto(`${URL_BASE}/notifications`);
  const entry = other.locator(".notifications li").filter({ hasText: "invites you to the board Shared" });
  await entry.getByRole("button", { name: /^Accept/ }).click();
  await other.getByText("You are a collaborator now.").waitFor();
  broken.push(...(await violations(other)));
  const accepted = (await send(ROLE, { id: board.id }, guest.token)).board.viewerRole;
  await other.getByRole("link", { name: "Shared" }).click();
  await other.getByRole("button", { name: "Leave the board" }).waitFor();
  const mayOrder = await other.getByRole("button", { name: /Change the place of/ }).count();
  const maySelect = await other.getByRole("checkbox").count();

  await page.reload();
  await page.getByRole("button", { name: "Share" }).click();
  await dialog.getByRole("button", { name: /^Remove/ }).waitFor();
  const invited = await dialog.getByText("(invited)").count();

  await other.getByRole("button", { name: "Leave the board" }).click();
  await other.getByText("You left the board Shared.").waitFor();
  const left = (await send(ROLE, { id: board.id }, guest.token)).board.viewerRole;
  await context.close();
  await there.close();
  return { accepted, mayOrder, maySelect, invited, left, broken };
}
