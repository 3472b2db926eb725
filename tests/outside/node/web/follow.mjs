// Follows somebody, and waits for what that person pins.
import { profile, signIn, WIDE } from "../browser.mjs";
import { CREATE_PIN, makeBoard, send, URL_BASE } from "../support.mjs";

// Follows somebody, sees their pins, and then a pin that they make.
export async function follow(browser, seen) {
  const reader = await signIn("rosa_aziz");
  const writer = await signIn("leila_nasser");
  const { id: boardId } = await makeBoard("New things", ["Pinned before"], { token: writer.token });
  const create = (title) => send(CREATE_PIN, { input: { boardId, title } }, writer.token);
  const context = await profile(browser, WIDE, reader, seen);
  const page = await context.newPage();
  // The feed's stream has begun when its first event has come. All streams of a page share a socket.
  const counted = new Promise((resolve) => {
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => payload.includes("homeFeedUpdated") && resolve()),
    );
  });
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
  await counted;
  await create("Pinned after");
  const pill = page.getByRole("button", { name: /new pin/ });
  await pill.waitFor();
  const words = await pill.innerText();
  await pill.click();
  await page.getByRole("link", { name: "Pinned after" }).first().waitFor();
  await context.close();
  return { owner, words };
}
