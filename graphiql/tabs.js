// The tabs of the last visit, kept in the browser, and the samples of this one.
//
// GraphiQL keeps its tabs in local storage. The samples name ids of this server's content, so a
// tab that still holds an untouched sample of an earlier visit gets this visit's version of it;
// what the user wrote stays as it is, and a state that can't be read is replaced.

const PREFIX = "pinway:graphiql:";
const SAMPLES = "pinway:samples";

export const NAMESPACE = "pinway";

const same = (tab, sample) =>
  (tab.query ?? "") === sample?.query && (tab.variables ?? "") === sample?.variables;

function newTab({ query, variables, title }) {
  const name = /^(?:query|mutation|subscription)\s+(\w+)/m.exec(query)?.[1] ?? null;
  return {
    id: crypto.getRandomValues(new Uint32Array(4)).join("-"),
    hash: null,
    title: name ?? title,
    query,
    variables,
    headers: null,
    operationName: name,
    response: null,
  };
}

function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key));
  } catch {
    return null;
  }
}

const isTab = (tab) => typeof tab?.id === "string" && typeof tab?.title === "string";

// Writes the state that GraphiQL will open: {tabs, activeTabIndex}. Returns it.
export function prepareTabs(storage, samples) {
  const stored = read(storage, SAMPLES);
  const earlier = Array.isArray(stored) ? stored : [];
  let state = read(storage, `${PREFIX}tabState`);
  if (!Array.isArray(state?.tabs) || !state.tabs.length || !state.tabs.every(isTab)) {
    state = { tabs: samples.map(newTab), activeTabIndex: 0 };
  }
  state.tabs = state.tabs.map((tab) => {
    const index = earlier.findIndex((sample) => same(tab, sample));
    return index >= 0 && samples[index] ? { ...tab, ...newTab(samples[index]), id: tab.id } : tab;
  });
  if (!(state.activeTabIndex >= 0 && state.activeTabIndex < state.tabs.length)) {
    state.activeTabIndex = 0;
  }
  if (state.tabs.length) {
    const active = state.tabs[state.activeTabIndex];
    storage.setItem(`${PREFIX}tabState`, JSON.stringify(state));
    storage.setItem(`${PREFIX}query`, active.query ?? "");
    storage.setItem(`${PREFIX}variables`, active.variables ?? "");
    storage.setItem(SAMPLES, JSON.stringify(samples));
  }
  return state;
}
