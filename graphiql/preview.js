// Shows the picture when the pointer rests on an image's URL in the response.
//
// GraphiQL's own preview only knows paths ("/a.png"), and the API answers absolute URLs. Pictures
// of other hosts are left alone: this page asks no other host for anything.

const IMAGE = /\.(?:avif|bmp|gif|jpe?g|png|svg|webp)$/i;
const THIS_MACHINE = new Set(["localhost", "127.0.0.1", "[::1]"]);

// Whether both are the same server: a development server has several names for itself.
const sameServer = (a, b) =>
  a.origin === b.origin ||
  (a.port === b.port && THIS_MACHINE.has(a.hostname) && THIS_MACHINE.has(b.hostname));

// The image of this page's server whose URL stands at `column` (from 1) of a line of JSON, or null:
// {url, start, end}, columns from 1, end exclusive. `here` is the page's URL, or its location.
export function imageAt(line, column, here) {
  for (const match of line.matchAll(/"(https?:[^"\s]+)"/g)) {
    const start = match.index + 2;
    const end = start + match[1].length;
    if (column < start || column > end || !URL.canParse(match[1])) continue;
    const url = new URL(match[1]);
    if (sameServer(url, here) && IMAGE.test(url.pathname)) {
      return { url: here.origin + url.pathname + url.search, start, end };
    }
  }
  return null;
}

export function registerImagePreview(monaco) {
  return monaco.languages.registerHoverProvider("json", {
    provideHover(model, { lineNumber, column }) {
      const found = imageAt(model.getLineContent(lineNumber), column, location);
      if (!found) return null;
      return {
        range: new monaco.Range(lineNumber, found.start, lineNumber, found.end),
        contents: [{ value: `![picture](${found.url}|width=160,height=160)` }],
      };
    },
  });
}
