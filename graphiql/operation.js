// Which operation of the document to run.

const NAMED = /^\s*(?:query|mutation|subscription)\s+(\w+)/gm;

// GraphiQL learns the name from a parse that runs a moment after the text changed: who runs a tab
// right after switching to it would send the name of the tab before.
export function currentOperation({ operationName, ...request }) {
  const names = [...request.query.matchAll(NAMED)].map((match) => match[1]);
  const name = names.includes(operationName) ? operationName : names.length === 1 ? names[0] : null;
  return name === null ? request : { ...request, operationName: name };
}
