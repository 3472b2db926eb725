// A new idempotency key: one for each change that a user makes. All its retries use the same key.
export function newKey(): string {
  // crypto.randomUUID only exists on https and on this machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
