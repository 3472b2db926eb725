// Reports a pin, a comment, a board and a person, and looks for the button beside one's own.
import { gone, operationOf, profile, signIn, violations, WIDE } from "../browser.mjs";
import { makeBoard, send, URL_BASE } from "../support.mjs";

const COMMENT = `mutation ($input: CreateCommentInput!) {
  createComment(input: $input) { comment { id } errors { message } }
}`;
const USER = `query ($name: String!) { user(username: $name) { id } }`;

export async function reportThings(browser, seen, session) {
  const owner = await signIn("leila_nasser");
  const board = await makeBoard("Reported", ["A stolen drawing"], { token: owner.token });
  const [pinId] = board.pins;
  for (const { token, text } of [{ ...owner, text: "you fool" }, { ...session, text: "why?" }])
    await send(COMMENT, { input: { pinId, text } }, token);
  const { user } = await send(USER, { name: owner.username });
  const context = await profile(browser, WIDE, session, seen);
  const page = await context.newPage();
  const broken = [];
  const sent = [];
  const dialog = page.getByRole("dialog");
  const answer = () =>
    page.waitForResponse((response) => operationOf(response.request())?.operationName === "Report");
  const note = async (is, response) => {
    const { id, reason, text } = operationOf(response.request()).variables.input;
    const { data } = await response.json();
    sent.push({ is, id, reason, text, reported: data.report.reportedId });
    await page.getByText("Thank you: the report is sent.").last().waitFor();
    await gone(page);
  };
  const report = async (is, button, reason, text = "") => {
    await page.getByRole("button", { name: button }).click();
    if (text) await dialog.getByLabel("More about it").fill(text);
    await dialog.getByRole("radio", { name: reason }).check();
    broken.push(...(await violations(page)));
    const answered = answer();
    await dialog.getByRole("button", { name: "Send" }).click();
    await note(is, await answered);
  };

  await page.goto(`${URL_BASE}/pin/${pinId}`);
  await page.getByRole("button", { name: "Report this pin" }).click();
  await dialog.getByRole("button", { name: "Send" }).click();
  const kept = await dialog.isVisible();
  await page.keyboard.press("Escape");
  await gone(page);
  const focus = await page.evaluate(() => document.activeElement.textContent);
  await report("pin", "Report this pin", "Spam", "It sells tea.");
  await report("comment", "Report the comment of", "Harassment");
  const comments = await page.getByRole("button", { name: "Report the comment of" }).count();
  await page.goto(`${URL_BASE}/board/${board.id}`);
  await report("board", "Report this board", "Somebody's work");

  await page.goto(`${URL_BASE}/user/${owner.username}`);
  await page.getByRole("button", { name: "Report" }).focus();
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  await dialog.getByRole("radio").first().focus();
  await page.keyboard.press("ArrowDown"); // the second reason
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  const answered = answer();
  await page.keyboard.press("Enter");
  await note("user", await answered);

  const own = await makeBoard("Own things", ["Mine"], { token: session.token });
  const counts = [comments - 1]; // the comment of the owner is left
  for (const [address, there] of [
    [`/board/${own.id}`, "Edit board"],
    [`/user/${session.username}`, "Edit profile"],
  ]) {
    await page.goto(`${URL_BASE}${address}`);
    await page.getByRole("button", { name: there }).waitFor();
    counts.push(await page.getByRole("button", { name: /^Report/ }).count());
  }
  await context.close();
  const ids = { pin: pinId, board: board.id, user: user.id };
  if (sent.some(({ is, id }) => ids[is] && ids[is] !== id)) throw new Error("another thing was reported");
  return { sent, kept, focus, own: counts, broken };
}
