// What the server tells the page: who is signed in, with which token, and the sample operations.

export const NOBODY = { token: null, viewer: null, tabs: [], endpoint: "/graphql" };

// Answers NOBODY where the server hands out no token (another host name, or no demo viewer).
export async function loadBoot(fetchFrom = fetch) {
  try {
    const response = await fetchFrom("/graphiql/boot.json", {
      headers: { accept: "application/json" },
      cache: "no-store",
    });
    return response.ok ? { ...NOBODY, ...(await response.json()) } : NOBODY;
  } catch {
    return NOBODY;
  }
}

// A fetch that carries the viewer's token and gets a new one, once, when the server refuses it.
// A header set by hand in the Headers pane wins.
export function signedFetch(boot) {
  let token = boot.token;
  const send = (input, init) => {
    const headers = new Headers(init?.headers);
    if (token && !headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  return async (input, init) => {
    const response = await send(input, init);
    if (response.status !== 401 || !token) return response;
    token = (await loadBoot()).token;
    return token ? send(input, init) : response;
  };
}
