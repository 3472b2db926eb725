// The signed-in user: name and bearer token, which are kept for the next visit.

export interface Session {
  username: string;
  token: string;
}

const KEY = "pinway:session";

export function currentSession(): Session | null {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<Session> | null;
    return kept?.username && kept.token ? { username: kept.username, token: kept.token } : null;
  } catch {
    return null;
  }
}

// The page is loaded again afterwards, so no data of the last user stays in memory.
export function startSession(session: Session): void {
  localStorage.setItem(KEY, JSON.stringify(session));
  sessionStorage.clear();
  location.assign("/");
}

// The user has another name now. The page with the new address is loaded, and the other tabs, too.
export function renameSession(username: string): void {
  keepSession({ username });
  location.assign(`/user/${username}`);
}

// Changes the kept session; the page stays.
export function keepSession(changed: Partial<Session>): void {
  const kept = currentSession();
  if (kept) localStorage.setItem(KEY, JSON.stringify({ ...kept, ...changed }));
}

export function endSession(): void {
  localStorage.removeItem(KEY);
  sessionStorage.clear();
  location.assign("/");
}

// When another tab signs in or out, this tab does, too, so that no tab writes as another user. A new
// token of the same user changes nothing here.
export function followOtherTabs(): void {
  const username = currentSession()?.username;
  addEventListener("storage", (event) => {
    if (event.key === KEY && currentSession()?.username !== username) location.reload();
  });
}

// The demo user that the development server offers; null if a token is needed.
export async function demoViewer(): Promise<string | null> {
  try {
    const response = await fetch("/web/boot.json");
    const boot = (await response.json()) as { demoViewer: string | null };
    return boot.demoViewer;
  } catch {
    return null;
  }
}

export async function signInAs(username: string): Promise<void> {
  const response = await fetch("/web/sign-in", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username }),
  });
  const answer = (await response.json()) as Session & { message?: string };
  if (!response.ok) throw new Error(answer.message ?? "Signing in failed.");
  startSession(answer);
}
