// Searches with the mouse and with the keyboard alone.
import { pinsOn, profile, violations, WIDE } from "../browser.mjs";
import { makeBoard, URL_BASE } from "../support.mjs";

const options = (page) => page.getByRole("option");

export async function searchFor(browser, seen, session) {
  const word = `heron${Date.now()}`;
  const board = await makeBoard(`Ponds of ${word}`, [`${word} <b>grey</b>`, `${word} white`]);
  const context = await profile(browser, WIDE, session, seen);
  const page = await context.newPage();
  await page.goto(URL_BASE);
  const box = page.getByRole("combobox", { name: "Search pins, boards and people" });

  // Jobs bring what is new to the index.
  await box.focus();
  const typed = async (text) => {
    await box.fill("");
    await page.keyboard.type(text);
  };
  for (;;) {
    await typed(word.slice(0, -2));
    const there = await options(page).nth(2).waitFor({ timeout: 2000 }).then(() => true, () => false);
    if (there) break;
  }
  const suggested = await options(page).allInnerTexts();
  const marked = await options(page).first().locator("mark").allInnerTexts();
  const broken = await violations(page);
  const state = async () => ({
    expanded: await box.getAttribute("aria-expanded"),
    active: await box.evaluate((input) => {
      const id = input.getAttribute("aria-activedescendant");
      return id ? document.getElementById(id)?.getAttribute("aria-selected") : null;
    }),
  });
  const states = [await state()];
  await page.keyboard.press("ArrowDown");
  states.push(await state());
  await page.keyboard.press("ArrowUp");
  states.push(await state());
  await page.keyboard.press("Escape");
  states.push(await state());

  // Enter opens the chosen suggestion; without a choice, the page of results.
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/(board|pin)\//);
  const opened = new URL(page.url()).pathname;
  await box.focus();
  await typed(word);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Results for “${word}”` }).waitFor();
  await page.locator(".wall [data-pin]").nth(1).waitFor();
  await page.locator(".board-card").first().waitFor();
  const results = {
    pins: await pinsOn(page, ".wall"),
    boards: await page.locator(".board-card .board-name").allInnerTexts(),
    title: await page.title(),
    box: await box.inputValue(),
    broken: await violations(page),
    elements: await page.locator(".wall b").count(),
  };
  await page.reload();
  await page.locator(".wall [data-pin]").nth(1).waitFor();
  await typed("zzqqxxzz");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing was found.").waitFor();
  await page.goBack();
  await page.locator(".wall [data-pin]").nth(1).waitFor();
  // The box takes the words of the address a moment after the results are drawn.
  await page.waitForFunction(() => document.querySelector("[role=combobox]").value !== "zzqqxxzz");
  const back = await box.inputValue();
  // Suggestions are opened with the mouse, too.
  await typed(word);
  await options(page).filter({ hasText: "Ponds" }).click();
  await page.waitForURL(/\/board\//);
  const clicked = new URL(page.url()).pathname;
  await context.close();
  return { word, board, suggested, marked, broken, states, opened, results, back, clicked };
}
