// The viewer of the page, for components with which the viewer makes changes.
import { navigate } from "wouter-preact/use-browser-location";
import { announce } from "../components/Toasts";
import { currentSession } from "./session";

export const session = currentSession();

// Whether a user is signed in; shows what to do if not.
export function requireSignIn(): boolean {
  if (!session) {
    announce("Sign in first.", "error", [{ label: "Sign in", run: () => navigate("/sign-in") }]);
  }
  return session !== null;
}
