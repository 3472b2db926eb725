// Who looks at the page, for components that let them change something.
import { announce } from "../components/Toasts";
import { currentSession } from "./session";

export const session = currentSession();

// Whether somebody is signed in; says what to do if not.
export function requireSignIn(): boolean {
  if (!session) announce("Sign in first: choose “Sign in” at the top.", "error");
  return session !== null;
}
