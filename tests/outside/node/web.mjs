// Acts as a person in front of the web client in Chromium, and prints what the pages showed.
import { launch, newSeen, signIn } from "./browser.mjs";
import { report } from "./support.mjs";
import { deleteAccount } from "./web/account.mjs";
import { keepApart } from "./web/apart.mjs";
import { arrange } from "./web/board.mjs";
import { edit } from "./web/edits.mjs";
import { recordEvents } from "./web/events.mjs";
import { loadData } from "./web/exports.mjs";
import { follow } from "./web/follow.mjs";
import { useKeys } from "./web/keyboard.mjs";
import { look } from "./web/looks.mjs";
import { share } from "./web/members.mjs";
import { join } from "./web/newcomer.mjs";
import { notice } from "./web/notifications.mjs";
import { usePins } from "./web/pins.mjs";
import { reportThings } from "./web/reports.mjs";
import { searchFor } from "./web/search.mjs";
import { scroll } from "./web/scroll.mjs";
import { divide } from "./web/sections.mjs";

const PARTS = { scroll, join, board: arrange, follow, pins: usePins, keys: useKeys, edits: edit, apart: keepApart, members: share, sections: divide, events: recordEvents, notifications: notice, reports: reportThings, exports: loadData, account: deleteAccount, search: searchFor, looks: look };

await report(async () => {
  const seen = newSeen();
  const only = process.env.ONLY; // one part, while somebody works on it
  const browser = await launch();
  try {
    const session = await signIn("demo");
    for (const [name, part] of Object.entries(PARTS)) {
      if (only && only !== name) continue;
      process.stderr.write(`${new Date().toISOString()} ${name}\n`); // shown if the visit takes too long
      try {
        seen[name] = await part(browser, seen, session);
      } catch (error) {
        error.message = `${name}: ${error.message}`;
        throw error;
      }
    }
  } finally {
    await browser.close();
  }
  return { ...seen, hosts: [...seen.hosts] };
});
