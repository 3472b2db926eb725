// Gets notifications while a page is open, and opens their list.
import { profile, signIn, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const LIKE = `mutation ($input: LikePinInput!) { likePin(input: $input) { errors { message } } }`;
const COMMENT = `mutation ($input: CreateCommentInput!) { createComment(input: $input) { errors { message } } }`;
const MARK = `mutation { markNotificationsRead(input: {}) { errors { message } } }`;
const UNREAD = `{ unreadNotificationCount }`;

export async function notice(browser, seen) {
  const owner = await signIn("leila_nasser");
  const [one, other] = [await signIn("rosa_aziz"), await signIn("demo")];
  const { pins } = await makeBoard("Noticed", ["A heron"], { token: owner.token });
  const [pinId] = pins;
  const context = await profile(browser, WIDE, owner, seen);
  const page = await context.newPage();
  const begun = new Promise((resolve) => {
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => payload.includes("unreadCount") && resolve()),
    );
  });
  await send(MARK, {}, owner.token); // what other parts did
  await page.goto(`${URL_BASE}/user/${owner.username}`);
  await begun;
  const bell = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: /Notifications/ });
  await bell.filter({ hasNot: page.locator(".count") }).waitFor();
  await send(LIKE, { input: { pinId } }, one.token);
  await bell.filter({ hasText: "1 unread" }).waitFor();
  await send(LIKE, { input: { pinId } }, other.token);
  await send(COMMENT, { input: { pinId, text: "What a bird!" } }, one.token);
  await bell.filter({ hasText: "2 unread" }).waitFor();
  await bell.click();
  const entries = page.locator(".notifications li");
  await entries.filter({ hasText: "What a bird!" }).waitFor();
  const shown = await entries.evaluateAll((them) =>
    them.slice(0, 2).map((it) => {
      const words = [...it.querySelector("time").parentElement.childNodes];
      const read = words.filter((word) => word.nodeName !== "TIME" && word.className !== "visually-hidden");
      return [it.className, read.map((word) => word.textContent).join("")];
    }),
  );
  await bell.filter({ hasNot: page.locator(".count") }).waitFor();
  const left = (await send(UNREAD, {}, owner.token)).unreadNotificationCount;
  await page.reload();
  await entries.first().waitFor();
  const fresh = await page.locator(".notifications li.fresh").count();
  await context.close();
  return { shown, left, fresh };
}
