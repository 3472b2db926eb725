// Measures the web client: when the first feed is painted, and how smoothly 5,000 pins scroll.
import { launch, newSeen, profile, scrollDown, signIn, WIDE } from "./browser.mjs";
import { report, URL_BASE } from "./support.mjs";

const LOADS = Number(process.env.LOADS ?? 10);
const SCROLL_SECONDS = Number(process.env.SCROLL_SECONDS ?? 10);
const PIXELS_A_FRAME = 60; // a fast flick of a wheel: 3,600 pixels a second

// Runs in the page before its own scripts: records when cards and pictures are first painted.
function watchPaint() {
  const marks = (globalThis.painted = {});
  const note = (name) => (marks[name] ??= performance.now());
  const look = () => {
    const cards = [...document.querySelectorAll("[data-pin]")];
    if (cards.length) note("card");
    const pictures = cards
      .filter((card) => card.getBoundingClientRect().top < innerHeight)
      .flatMap((card) => [...card.querySelectorAll(".card-picture img")]);
    const loaded = pictures.filter((picture) => picture.complete && picture.naturalWidth);
    if (loaded.length) note("picture");
    if (loaded.length && loaded.length === pictures.length) note("screen");
    if (!marks.screen) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

// Loads the page with an empty cache. Returns milliseconds from the navigation's start.
async function load(browser, session, options) {
  const context = await profile(browser, options, session, newSeen());
  await context.addInitScript(watchPaint);
  const page = await context.newPage();
  await page.goto(URL_BASE);
  await page.waitForFunction(() => globalThis.painted.screen);
  const found = await page.evaluate(() => {
    const times = (test) => performance.getEntriesByType("resource").filter((entry) => test(entry.name));
    const [script] = times((name) => name.endsWith(".js"));
    const [feed] = times((name) => name.endsWith("/graphql"));
    return {
      ...globalThis.painted,
      script: script.responseEnd,
      asked: feed.startTime,
      answered: feed.responseEnd,
      contentful: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    };
  });
  await context.close();
  return found;
}

// Scrolls through a home feed of `count` pins: the demo's pins, repeated under other ids.
async function scroll(browser, session, count) {
  const context = await profile(browser, WIDE, session, newSeen());
  const page = await context.newPage();
  let made = 0;
  await page.route("**/graphql", async (route) => {
    const operation = route.request().postDataJSON();
    if (operation.operationName !== "HomeFeed") return route.fallback();
    const response = await route.fetch();
    const answer = await response.json();
    const { edges } = answer.data.homeFeed;
    const wanted = Math.min(500, count - made);
    answer.data.homeFeed.edges = Array.from({ length: wanted }, (_, place) => {
      const edge = edges[place % edges.length];
      return { ...edge, node: { ...edge.node, id: `${1_000_000 + made + place}` } };
    });
    made += wanted;
    await route.fulfill({ response, json: answer });
  });
  await page.goto(URL_BASE);
  await page.locator("[data-pin] img").first().waitFor();
  while (made < count) {
    const before = made;
    while (made === before) await scrollDown(page);
  }
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(500);
  const seen = await page.evaluate(
    ([seconds, step]) =>
      new Promise((done) => {
        const frames = [];
        const tasks = [];
        const watcher = new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) tasks.push(duration);
        });
        watcher.observe({ type: "longtask" });
        const end = document.documentElement.scrollHeight - innerHeight;
        const began = performance.now();
        let last = began;
        let direction = 1;
        let most = 0;
        const turn = (now) => {
          frames.push(now - last);
          last = now;
          most = Math.max(most, document.querySelectorAll("[data-pin]").length);
          if (scrollY >= end - 5) direction = -1;
          if (scrollY <= 0) direction = 1;
          scrollBy(0, direction * step);
          if (now - began < seconds * 1000) return requestAnimationFrame(turn);
          watcher.disconnect();
          frames.splice(0, 2);
          done({ frames, tasks, most });
        };
        requestAnimationFrame(turn);
      }),
    [SCROLL_SECONDS, PIXELS_A_FRAME],
  );
  await context.close();
  return { ...seen, pins: made };
}

await report(async () => {
  const browser = await launch();
  try {
    const session = await signIn("demo");
    const loads = [];
    await load(browser, session, WIDE); // the gateway's first answer compiles the operation
    for (let n = 0; n < LOADS; n += 1) loads.push(await load(browser, session, WIDE));
    const few = await scroll(browser, session, 250);
    const many = await scroll(browser, session, 5_000);
    return { loads, few, many };
  } finally {
    await browser.close();
  }
});
