// Scrolls the home feed, as a demo user whom the person chose.
import { operationOf, pinsOn, profile, scrollDown, WIDE } from "../browser.mjs";
import { URL_BASE } from "../support.mjs";

// Chooses the first demo user, and scrolls the home feed through some pages of it.
export async function scroll(browser, seen) {
  const context = await profile(browser, WIDE, null, seen);
  const page = await context.newPage();
  const answered = [];
  page.on("response", async (response) => {
    if (operationOf(response.request())?.operationName !== "HomeFeed") return;
    const { data } = (await response.json().catch(() => null)) ?? {}; // the browser has closed
    if (data) answered.push(data.homeFeed.edges);
  });
  await page.goto(URL_BASE);
  await page.getByRole("link", { name: "Choose who you are" }).click();
  await page.getByRole("button", { name: "Demo Viewer" }).click();
  await page.getByRole("link", { name: "Profile" }).waitFor();
  // The client keeps the visit when the first page of the feed has come.
  await page.waitForFunction(() => sessionStorage.getItem("pinway:visit"));
  answered.length = 0;
  const begun = []; // requests that begin the kept visit again
  page.on("request", (request) => {
    const operation = operationOf(request);
    const { visit, after } = operation?.variables ?? {};
    if (operation?.operationName === "HomeFeed" && visit && !after) begun.push(visit);
  });
  await page.reload();
  await page.locator("[data-pin] img").first().waitFor();
  const reasons = await page.locator(".card-reason").allInnerTexts();
  let most = 0;
  while (answered.length < 6) {
    most = Math.max(most, await page.locator("[data-pin]").count());
    const asked = answered.length;
    while (answered.length === asked) await scrollDown(page);
  }
  const pages = answered.slice(0, 6);
  // A window that all cards are near. The client draws an answer a moment after it has come. Pins
  // that an earlier visit showed are left out by the client when it begins another visit.
  await page.setViewportSize({ width: 1280, height: 16_000 });
  const fresh = pages.flat().filter(({ reason }) => reason !== "SHOWN_BEFORE");
  await page.waitForFunction(
    (ids) => ids.every((id) => document.querySelector(`.wall [data-pin="${id}"]`)),
    fresh.map(({ node }) => node.id),
  );
  const pins = await pinsOn(page, ".wall");
  await context.close();
  return { pages: pages.length, pins, reasons, mostInDocument: most, begun };
}
