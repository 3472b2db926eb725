// The page's title, which a screen reader says first and the browser's history lists.
import { useEffect } from "preact/hooks";

// The title stays as it is while `words` is undefined: the screen waits for its name.
export function useTitle(words: string | undefined): void {
  useEffect(() => {
    if (words !== undefined) document.title = words ? `${words} · Pinway` : "Pinway";
  }, [words]);
}
