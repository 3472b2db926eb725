// GraphiQL's tabs have the role "tab" and hold their close buttons. A tab must hold no other control
// (WAI-ARIA: its children are presentational), so screen readers don't find those buttons. The tabs
// become what they look like: a list of buttons, of which one is current.
export function plainTabs(list, session) {
  if (!list) return undefined;
  const mend = () => {
    list.removeAttribute("role");
    session?.setAttribute("role", "region");
    for (const item of list.querySelectorAll(".graphiql-tab")) {
      item.removeAttribute("role");
      item.removeAttribute("aria-selected");
      const isCurrent = item.classList.contains("graphiql-tab-active");
      item.querySelector(".graphiql-tab-button")?.setAttribute("aria-current", String(isCurrent));
    }
  };
  mend();
  const observer = new MutationObserver(mend);
  const attributeFilter = ["role", "aria-selected", "class"]; // React sets them for each new tab
  observer.observe(list, { subtree: true, childList: true, attributeFilter });
  return () => observer.disconnect();
}
