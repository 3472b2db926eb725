// The sections of a board to choose from, and the board itself: a pin there is in no section.
import { client } from "../api/client";
import { graphql } from "../gen";

const SectionNames = graphql(`
  query SectionNames($id: ID!, $after: String) {
    board(id: $id) {
      id
      sections(first: 100, after: $after) {
        edges {
          node {
            id
            name
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

export interface Section {
  id: string;
  name: string;
}

// All sections of a board. The cache keeps another list of them: with pins, and page by page.
export async function sectionsOf(boardId: string): Promise<Section[]> {
  const found: Section[] = [];
  let after: string | null = null;
  do {
    const variables: { id: string; after: string | null } = { id: boardId, after };
    const { data } = await client.query({ query: SectionNames, variables, fetchPolicy: "no-cache" });
    const page = data?.board?.sections;
    found.push(...(page?.edges ?? []).flatMap(({ node }) => (node ? [node] : [])));
    after = page?.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
  } while (after);
  return found;
}

interface Props {
  sections: Section[];
  none: string;
  onChoose: (sectionId: string | null, name: string) => void;
}

export function SectionPicker({ sections, none, onChoose }: Props) {
  return (
    <ul class="picker-list">
      <li>
        <button type="button" onClick={() => onChoose(null, none)}>
          {none}
        </button>
      </li>
      {sections.map(({ id, name }) => (
        <li key={id}>
          <button type="button" onClick={() => onChoose(id, name)}>
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}
