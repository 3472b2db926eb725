// Photographs the home feed for the README, as WebP files in the folder PICTURES.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, newSeen, profile, signIn } from "./browser.mjs";
import { report, URL_BASE } from "./support.mjs";

const WIDE = { viewport: { width: 1280, height: 760 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5, isMobile: true, hasTouch: true };
const VIEWS = {
  "web-light": { ...WIDE, colorScheme: "light" },
  "web-dark": { ...WIDE, colorScheme: "dark" },
  "web-phone": { ...PHONE, colorScheme: "light" },
};

// Resolves when the page shows the feed, the people to follow, and each picture in the window.
const drawn = (page) =>
  page.waitForFunction(() => {
    const seen = [...document.images].filter((image) => image.getBoundingClientRect().top < innerHeight);
    const listed = [".follow-card", "[data-pin]"].every((item) => document.querySelector(item));
    return listed && seen.every(({ complete, naturalWidth }) => complete && naturalWidth);
  });

async function photograph(browser, session, name, options) {
  const seen = newSeen();
  const context = await profile(browser, options, session, seen);
  const page = await context.newPage();
  await page.goto(URL_BASE);
  await drawn(page);
  const devtools = await context.newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  writeFileSync(join(process.env.PICTURES, `${name}.webp`), Buffer.from(data, "base64"));
  await context.close();
  if (seen.console.length || seen.pageErrors.length) throw new Error(JSON.stringify(seen));
}

await report(async () => {
  const browser = await launch();
  try {
    const session = await signIn(process.env.DEMO_USER);
    for (const [name, options] of Object.entries(VIEWS)) await photograph(browser, session, name, options);
    return { pictures: Object.keys(VIEWS) };
  } finally {
    await browser.close();
  }
});
