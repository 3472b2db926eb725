// Looks at every screen, wide and on a phone, in light and in dark.
import { COLORS, PHONE, profile, violations, WIDE } from "../browser.mjs";
import { makeBoard, URL_BASE } from "../support.mjs";

// What breaks the rules of accessibility or is too wide for its window, by screen and look.
export async function look(browser, seen, session) {
  const board = await makeBoard("To look at", ["a pin"]);
  const screens = {
    home: ["/", ".follow-card"],
    following: ["/following", "[data-pin]"],
    pin: [`/pin/${board.pins[0]}`, ".pin-page"],
    board: [`/board/${board.id}`, ".grid [data-pin]"],
    profile: ["/user/demo", ".board-card"],
    new: ["/new", ".picker-list button"],
    signIn: ["/sign-in", ".people button"],
    absent: ["/pin/1", "h1"],
  };
  const found = {};
  const note = (look, problems) => {
    if (problems.length) found[look] = problems;
  };
  for (const [kind, options] of Object.entries({ wide: WIDE, phone: PHONE })) {
    const context = await profile(browser, { ...options, colorScheme: "light" }, session, seen);
    const page = await context.newPage();
    for (const [name, [path, there]] of Object.entries(screens)) {
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(URL_BASE + path);
      await page.locator(there).first().waitFor();
      // A phone's own measure, innerWidth, grows with what is too wide.
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      const tooWide = width > options.viewport.width;
      note(`${name}, ${kind}, light`, [...(await violations(page)), ...(tooWide ? ["too wide"] : [])]);
      // The other scheme changes colors alone.
      await page.emulateMedia({ colorScheme: "dark" });
      note(`${name}, ${kind}, dark`, await violations(page, COLORS));
    }
    await context.close();
  }
  return found;
}
