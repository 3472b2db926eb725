// The search box of the header: a combobox (WAI-ARIA 1.2) whose list has pins, boards and people
// for the words as they are typed. Enter without a choice opens the page of all results.
import { useLazyQuery } from "@apollo/client/react";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useLocation, useSearchParams } from "wouter-preact";
import { graphql } from "../gen";
import type { SuggestionsQuery } from "../gen/graphql";
import { Marked } from "./Marked";

const Suggestions = graphql(`
  query Suggestions($prefix: String!) {
    suggest(prefix: $prefix) {
      text
      parts {
        text
        matched
      }
      node {
        ... on Pin {
          id
        }
        ... on Board {
          id
        }
        ... on User {
          id
          username
        }
      }
    }
  }
`);

type Suggestion = NonNullable<SuggestionsQuery["suggest"]>[number];

const MOST = 200; // characters that the gateway searches for
const PAUSE = 150; // milliseconds without a letter before the gateway is asked
const KINDS = { Pin: "Pin", Board: "Board", User: "Person" };

export function SearchBox() {
  const [path, go] = useLocation();
  const [params] = useSearchParams();
  const asked = path === "/search" ? (params.get("q") ?? "") : "";
  const [words, setWords] = useState(asked);
  const [open, setOpen] = useState(false);
  const [chosen, choose] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const [ask, { data }] = useLazyQuery(Suggestions, { fetchPolicy: "network-only" });
  const prefix = words.trim();

  useEffect(() => setWords(asked), [asked]);
  useEffect(() => {
    if (!open || !/[\p{L}\p{N}]/u.test(prefix)) return;
    const timer = setTimeout(() => void ask({ variables: { prefix } }), PAUSE);
    return () => clearTimeout(timer);
  }, [prefix, open, ask]);

  const found = prefix ? (data?.suggest ?? []) : [];
  const shown = open && found.length > 0;

  const leave = (address: string) => {
    setOpen(false);
    choose(-1);
    go(address);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const one = shown ? found[chosen] : undefined;
    if (one) leave(addressOf(one));
    else if (prefix) leave(`/search?q=${encodeURIComponent(prefix)}`);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      event.preventDefault();
      setOpen(true);
      // Above the first suggestion are the typed words, without a choice.
      choose(((chosen + 1 + step + found.length + 1) % (found.length + 1)) - 1);
    } else if (event.key === "Escape" && shown) {
      event.preventDefault();
      setOpen(false);
      choose(-1);
    }
  };

  return (
    <search class="search">
      <form onSubmit={submit}>
        <input
          ref={input}
          type="search"
          role="combobox"
          aria-label="Search pins, boards and people"
          aria-expanded={shown}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={shown && chosen >= 0 ? `${list}-${chosen}` : undefined}
          placeholder="Search"
          autocomplete="off"
          maxLength={MOST}
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value);
            setOpen(true);
            choose(-1);
          }}
          onKeyDown={press}
          onBlur={() => setOpen(false)}
        />
      </form>
      <ul id={list} role="listbox" aria-label="Suggestions" class="suggestions" hidden={!shown}>
        {shown &&
          found.map((one, place) => (
            <li
              key={one.node.id}
              id={`${list}-${place}`}
              role="option"
              aria-selected={place === chosen}
              // The box keeps the focus, so the list is still open when the button is released.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => leave(addressOf(one))}
            >
              <span>
                <Marked parts={one.parts} />
              </span>
              <span class="quiet">{KINDS[one.node.__typename]}</span>
            </li>
          ))}
      </ul>
      <span role="status" class="visually-hidden">
        {shown ? `${found.length} ${found.length === 1 ? "suggestion" : "suggestions"}` : ""}
      </span>
    </search>
  );
}

function addressOf({ node }: Suggestion): string {
  if (node.__typename === "User") return `/user/${node.username}`;
  return node.__typename === "Board" ? `/board/${node.id}` : `/pin/${node.id}`;
}
