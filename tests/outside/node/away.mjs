// Looks at pins in Chromium. The server of some of the pins goes away and comes back.
import { launch, newSeen, profile, WIDE } from "./browser.mjs";
import { report, TOKEN, URL_BASE } from "./support.mjs";

const act = (name) => fetch(`${URL_BASE}/test/${name}`, { method: "POST" });

await report(async () => {
  const seen = newSeen();
  const browser = await launch();
  try {
    const session = { username: process.env.USERNAME, token: TOKEN };
    const context = await profile(browser, WIDE, session, seen);
    const page = await context.newPage();
    const related = page.getByRole("region", { name: "Related pins" });
    await act("cut");
    await page.goto(`${URL_BASE}/pin/${process.env.PIN}`);
    await related.locator(".missing").waitFor();
    const missing = await related.locator(".missing").allInnerTexts();
    const around = await related.locator(".card-title").allInnerTexts();
    await page.goto(URL_BASE);
    await page.locator(".banner").waitFor();
    const banner = await page.locator(".banner").innerText();
    await act("heal");
    await page.goto(`${URL_BASE}/pin/${process.env.PIN}`);
    await related.locator(".card-title").nth(around.length).waitFor();
    const healed = await related.locator(".card-title").allInnerTexts();
    return { missing, around, banner, healed, pageErrors: seen.pageErrors };
  } finally {
    await browser.close();
  }
});
