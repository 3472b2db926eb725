// Reads the home feed in Chromium while the primary feed store dies between two pages.
import { launch, newSeen, operationOf, pinsOn, profile, WIDE } from "./browser.mjs";
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
      const answer = await response.json().catch(() => null); // the browser has closed
      pages.push({ errors: answer?.errors, health: answer?.data?.homeFeed?.health });
    });
    await page.goto(URL_BASE);
    await page.locator("[data-pin]").first().waitFor();
    const before = await page.locator(".banner").allInnerTexts();
    await fetch(`${URL_BASE}/test/kill`, { method: "POST" });
    while (pages.length < 2) {
      const answered = pages.length;
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      while (pages.length === answered) await page.waitForTimeout(20);
    }
    await page.getByText("A backup store answered").waitFor();
    const banner = await page.locator(".banner").innerText();
    // A window that all cards are near, so that all of them are in the document.
    await page.setViewportSize({ width: 1280, height: 6000 });
    const most = Number(process.env.PINS);
    while ((await page.locator(".wall [data-pin]").count()) < most) await page.waitForTimeout(50);
    const pins = await pinsOn(page, ".wall");
    return { pages, before, banner, pins, pageErrors: seen.pageErrors };
  } finally {
    await browser.close();
  }
});
