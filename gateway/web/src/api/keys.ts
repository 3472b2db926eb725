// A new idempotency key: one for each change that a person makes, the same for every retry of it.
export function newKey(): string {
  // crypto.randomUUID exists on https and on this machine only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
