// The results of a search: people, boards and pins, best first.
import { useQuery } from "@apollo/client/react";
import { useCallback, useMemo } from "preact/hooks";
import { Link, useSearchParams } from "wouter-preact";
import { Avatar } from "../components/Avatar";
import { BoardCard } from "../components/BoardCard";
import { Marked } from "../components/Marked";
import { PinWall } from "../components/PinWall";
import { graphql } from "../gen";
import { useTitle } from "../title";

const SearchPage = graphql(`
  query SearchPage($text: String!) {
    people: search(text: $text, types: [USER], first: 12) {
      edges {
        highlights {
          field
          parts {
            text
            matched
          }
        }
        node {
          ... on User {
            id
            username
            fullName
            avatar {
              url
            }
          }
        }
      }
    }
    boards: search(text: $text, types: [BOARD], first: 12) {
      edges {
        node {
          ... on Board {
            id
            ...BoardCard
          }
        }
      }
    }
  }
`);

const SearchPins = graphql(`
  query SearchPins($text: String!, $after: String) {
    search(text: $text, types: [PIN], first: 25, after: $after) {
      edges {
        cursor
        node {
          ... on Pin {
            id
            ...PinCard
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

export function SearchScreen() {
  const [params] = useSearchParams();
  const text = (params.get("q") ?? "").trim();
  useTitle(text ? `Search: ${text}` : "Search");
  return text ? <Results key={text} text={text} /> : <h1>Search for pins, boards and people</h1>;
}

function Results({ text }: { text: string }) {
  const others = useQuery(SearchPage, { variables: { text } });
  const { data, loading, error, fetchMore } = useQuery(SearchPins, { variables: { text } });
  const pins = data?.search;
  const people = (others.data?.people?.edges ?? []).flatMap(({ node, highlights }) =>
    node.__typename === "User" ? [{ ...node, highlights }] : [],
  );
  const boards = (others.data?.boards?.edges ?? []).flatMap(({ node }) => (node.__typename === "Board" ? [node] : []));
  const edges = useMemo(
    () => (pins?.edges ?? []).flatMap(({ node }) => (node.__typename === "Pin" ? [{ node }] : [])),
    [pins],
  );
  const after = pins?.pageInfo.hasNextPage ? pins.pageInfo.endCursor : null;
  const more = useCallback(() => {
    if (after && !loading) void fetchMore({ variables: { after } });
  }, [after, loading, fetchMore]);
  const busy = (loading && !pins) || (others.loading && !others.data);
  const nothing = !busy && !people.length && !boards.length && !edges.length;
  return (
    <>
      <h1>Results for “{text}”</h1>
      <p role="status">{busy ? "Searching …" : nothing ? (error ? error.message : "Nothing was found.") : ""}</p>
      {people.length > 0 && (
        <section aria-label="People">
          <h2>People</h2>
          <ul class="found-people">
            {people.map((person) => {
              const name = person.highlights.find(({ field }) => field === "fullName");
              const shown = person.fullName || person.username;
              return (
                <li key={person.id}>
                  <Link href={`/user/${person.username}`}>
                    <Avatar avatar={person.avatar} name={shown} size={36} />
                    <span>{name && person.fullName ? <Marked parts={name.parts} /> : shown}</span>
                  </Link>
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {boards.length > 0 && (
        <section aria-label="Boards">
          <h2>Boards</h2>
          <ul class="boards">
            {boards.map((board) => (
              <li key={board.id}>
                <BoardCard board={board} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {edges.length > 0 && (
        <section aria-label="Pins">
          <h2>Pins</h2>
          <PinWall label="Pins that were found" edges={edges} onEnd={more} />
        </section>
      )}
    </>
  );
}
