// Looks at every screen, wide and on a phone, in light and in dark.
import { COLORS, PHONE, profile, violations, WIDE } from "../browser.mjs";
import { makeBoard, URL_BASE } from "../support.mjs";

// Returns the links and buttons that a finger misses easily: an owner's link on a card or beside a pin
// that is lower than 44 pixels, and any other that is lower than 24. Links within a text are as high as its lines.
function lowTargets() {
  const found = [];
  for (const target of document.querySelectorAll("a, button")) {
    const { width, height, right } = target.getBoundingClientRect();
    const least = target.closest(".card-owner, .person") ? 44 : 24;
    const visible = getComputedStyle(target).visibility === "visible";
    const shown = width > 1 && height > 1 && right > 0 && visible;
    if (shown && height < least && getComputedStyle(target).display !== "inline") {
      found.push(`${Math.round(height)} px: ${target.outerHTML.slice(0, 120)}`);
    }
  }
  return found.slice(0, 5);
}

// Returns what is too wide for the window: the innermost elements that end to the right of it.
// A phone's own measure, innerWidth, grows with what is too wide.
function tooWide(width) {
  const whole = document.documentElement.scrollWidth;
  if (whole <= width) return [];
  const found = [...document.querySelectorAll("body *")].filter((it) => it.getBoundingClientRect().right > width);
  const inner = found.filter((it) => !found.some((other) => other !== it && it.contains(other)));
  return [`too wide: ${whole}`, ...inner.slice(0, 5).map((it) => it.outerHTML.slice(0, 200))];
}

// What breaks the rules of accessibility or is too wide for its window, by screen and look.
export async function look(browser, seen, session) {
  const board = await makeBoard("To look at", ["a pin"]);
  const screens = {
    home: ["/", ".follow-card"],
    following: ["/following", "[data-pin]"],
    pin: [`/pin/${board.pins[0]}`, ".pin-page"],
    board: [`/board/${board.id}`, ".grid [data-pin]"],
    profile: ["/user/demo", ".board-card"],
    notifications: ["/notifications", ".notifications li, .narrow p"],
    search: ["/search?q=python", ".wall [data-pin]"],
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
      const wide = await page.evaluate(tooWide, options.viewport.width);
      note(`${name}, ${kind}, light`, [...(await violations(page)), ...wide]);
      if (options.hasTouch) note(`${name}, ${kind}, touch`, await page.evaluate(lowTargets));
      // The other scheme changes colors alone.
      await page.emulateMedia({ colorScheme: "dark" });
      note(`${name}, ${kind}, dark`, await violations(page, COLORS));
    }
    await context.close();
  }
  return found;
}
