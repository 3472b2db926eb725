// Stands for a screen that only somebody who is signed in has.
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
