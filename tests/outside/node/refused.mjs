// Sends bodies that are too large, with fetch, and prints the answers.
import { authorization, ENDPOINT, report } from "./support.mjs";

async function answerTo(url, method, size) {
  const headers = { "content-type": "application/json", ...authorization() };
  const response = await fetch(url, { method, headers, body: new Uint8Array(size) });
  const { errors } = await response.json();
  return [response.status, errors[0].message];
}

await report(async () => {
  const operations = [];
  const pictures = [];
  for (const size of [1_500_000, 11_000_000, 40_000_000]) {
    operations.push(await answerTo(ENDPOINT, "POST", size));
  }
  for (const size of [11_000_000, 20_000_000, 40_000_000]) {
    pictures.push(await answerTo(process.env.UPLOAD, "PUT", size));
  }
  return { operations, pictures };
});
