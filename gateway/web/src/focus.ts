// Where the keyboard's focus goes when what had it leaves the page.

// Nothing has the focus: the next Tab would begin at the top of the page.
export function isFocusLost(): boolean {
  return !document.activeElement || document.activeElement === document.body;
}

export function focusMain(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}
