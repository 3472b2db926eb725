// Reads the home feed in Chromium while the primary feed store dies between two pages.
import { launch, newSeen, operationOf, pinsOn, profile, scrollDown, WIDE } from "./browser.mjs";
import { report, TOKEN, URL_BASE } from "./support.mjs";

await report(async () => {
  const seen = newSeen();
  const browser = await launch();
  const pages = [];
  try {
    const session = { username: process.env.USERNAME, token: TOKEN };
    const context = await profile(browser, WIDE, session, seen);
    const page = await context.newPage();
    page.on("response", async (response) => {
      if (operationOf(response.request())?.operationName !== "HomeFeed") return;
      const answer = await response.json().catch(() => null);
      if (answer === null) return; // the browser closed while it read this answer
      const { visitId, health, edges = [] } = answer.data?.homeFeed ?? {};
      pages.push({ errors: answer.errors, visit: visitId, health, pins: edges.map(({ node }) => node.id) });
    });
    // The client asks for the second page as soon as it has drawn the first: the store dies before
    // that request is sent.
    let asked = 0;
    let before = null;
    await page.route("**/graphql", async (route) => {
      if (operationOf(route.request())?.operationName === "HomeFeed" && ++asked === 2) {
        before = await page.locator(".banner").allInnerTexts();
        await fetch(`${URL_BASE}/test/kill`, { method: "POST" });
      }
      await route.fallback();
    });
    await page.goto(URL_BASE);
    await page.locator("[data-pin]").first().waitFor();
    const most = Number(process.env.PINS);
    const answered = () => new Set(pages.flatMap(({ pins }) => pins)).size;
    while (answered() < most) await scrollDown(page);
    await page.getByText("A backup store answered").waitFor();
    const banner = await page.locator(".banner").innerText();
    // The window is so high that all cards are near it: then all of them are in the document.
    await page.setViewportSize({ width: 1280, height: 100 * most });
    while ((await page.locator(".wall [data-pin]").count()) < most) await page.waitForTimeout(50);
    const pins = await pinsOn(page, ".wall");
    return { pages, before, banner, pins, pageErrors: seen.pageErrors };
  } finally {
    await browser.close();
  }
});
