// The page's title: screen readers say it first, and the browser's history lists it.
import { useEffect } from "preact/hooks";

// The title is unchanged while `words` is undefined: the screen waits for its name.
export function useTitle(words: string | undefined): void {
  useEffect(() => {
    if (words !== undefined) document.title = words ? `${words} · Pinway` : "Pinway";
  }, [words]);
}
