// Joins with a new name, follows somebody, makes a board, and drags a pin: with no word from outside.
import { operationOf, pinsOn, profile, WIDE } from "../browser.mjs";
import { URL_BASE } from "../support.mjs";
import { drag } from "./board.mjs";

const answer = (page, name) =>
  page.waitForResponse((response) => operationOf(response.request())?.operationName === name);
const FOLLOWED = "You follow this person";

export async function join(browser, seen) {
  const context = await profile(browser, WIDE, null, seen);
  const page = await context.newPage();
  await page.goto(URL_BASE);
  await page.getByRole("link", { name: "Choose who you are" }).click();
  await page.getByLabel("Choose a name").fill(`new_${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Join" }).click();

  const person = page.locator(".follow-card").first();
  await person.waitFor();
  const name = await person.locator(".follow-name").innerText();
  const reasons = () => page.locator(".card-reason").allInnerTexts();
  const before = (await reasons()).filter((reason) => reason === FOLLOWED);
  await person.getByRole("button", { name: `Follow ${name}` }).click();
  const theirs = page.locator("[data-pin]", { hasText: FOLLOWED });
  await theirs.first().waitFor();
  const owners = new Set(await theirs.locator(".card-owner").allInnerTexts());

  // The first pin makes the board; the second goes on top of it.
  for (const place of [0, 1]) {
    const repinned = answer(page, "Repin");
    const card = page.locator(".wall [data-pin]").nth(place);
    await card.hover();
    await card.getByRole("button", { name: /^Save/ }).click();
    const dialog = page.getByRole("dialog");
    if (place === 0) {
      await dialog.getByLabel("Name of a new board").fill("Mine");
      await dialog.getByRole("button", { name: "Create" }).click();
    } else await dialog.getByRole("button", { name: "Mine", exact: true }).click();
    await repinned;
  }
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.locator(".grid [data-pin]").nth(1).waitFor();
  const [upper, lower] = await pinsOn(page, ".grid");
  const saved = answer(page, "ReorderPins");
  await drag(page, lower, upper, true);
  await saved;
  await page.reload();
  await page.locator(".grid [data-pin]").nth(1).waitFor();
  const kept = await pinsOn(page, ".grid");
  await context.close();
  return { before, name, owners: [...owners], kept: kept.join() === [lower, upper].join() };
}
