// Scrolls the home feed in Chromium while the process of the primary feed store is killed (SIGKILL).
import { launch, newSeen, operationOf, pinsOn, profile, scrollDown, WIDE } from "./browser.mjs";
import { report, TOKEN, URL_BASE } from "./support.mjs";

const PAGES = 5; // after the kill
const VICTIM = Number(process.env.VICTIM); // a process id

await report(async () => {
  const seen = newSeen();
  const browser = await launch();
  const pages = [];
  try {
    const session = { username: process.env.USERNAME, token: TOKEN };
    const context = await profile(browser, WIDE, session, seen);
    const page = await context.newPage();
    const banner = page.locator(".banner");
    // Scrolls until there are so many pages, and until the last of them is shown; what the page says.
    const scrollTo = async (count) => {
      let shown = 0;
      while (pages.length < count || shown < pages.length) {
        shown = pages.length;
        await scrollDown(page);
        await page.waitForFunction(() => !document.querySelector(".feed-end")?.textContent);
      }
      return { sides: Object.values(pages.at(-1).health), banner: (await banner.allInnerTexts()).join() };
    };
    page.on("response", async (response) => {
      if (operationOf(response.request())?.operationName !== "HomeFeed") return;
      const answer = await response.json().catch(() => null); // the browser has closed
      const { health, visitId, edges } = answer?.data?.homeFeed ?? {};
      // Where a visit ends, the client begins the next one, and leaves out what it has shown.
      const fresh = edges?.filter(({ reason }) => visitId === pages[0]?.visitId || reason !== "SHOWN_BEFORE");
      const pins = (pages.length ? fresh : edges)?.map(({ node }) => node.id);
      pages.push({ errors: answer?.errors ?? [], health, visitId, pins });
    });
    await page.goto(URL_BASE);
    await page.locator("[data-pin]").first().waitFor();
    const before = await scrollTo(2);
    const pagesBefore = pages.length;
    process.kill(VICTIM, "SIGKILL");
    const after = await scrollTo(pagesBefore + PAGES);
    // A window that all cards are near, so that all of them are in the document.
    await page.setViewportSize({ width: 1280, height: 16_000 });
    const wanted = pages.flatMap(({ pins }) => pins);
    let shown = [];
    while (!wanted.every((id) => shown.includes(id))) {
      await page.waitForTimeout(50);
      shown = await pinsOn(page, ".wall");
    }
    return { before, after, pages, pagesBefore, shown, pageErrors: seen.pageErrors };
  } finally {
    await browser.close();
  }
});
