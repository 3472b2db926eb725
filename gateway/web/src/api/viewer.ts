// Who looks at the page, for components that let them change something.
import { navigate } from "wouter-preact/use-browser-location";
import { announce } from "../components/Toasts";
import { currentSession } from "./session";

export const session = currentSession();

// Whether somebody is signed in; says what to do if not.
export function requireSignIn(): boolean {
  if (!session) {
    announce("Sign in first.", "error", { label: "Sign in", run: () => navigate("/sign-in") });
  }
  return session !== null;
}
