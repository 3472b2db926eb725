// Shown in place of a screen that needs a signed-in user.
import { Link } from "wouter-preact";

export function SignInFirst({ what }: { what: string }) {
  return (
    <section class="welcome">
      <h1>Sign in to {what}</h1>
      <Link href="/sign-in" class="button primary">
        Sign in
      </Link>
    </section>
  );
}
