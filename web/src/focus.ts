// Moves the keyboard's focus when the element that has it disappears from the page.

// No element has the focus: the next Tab would begin at the top of the page.
export function isFocusLost(): boolean {
  return !document.activeElement || document.activeElement === document.body;
}

export function focusMain(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}
