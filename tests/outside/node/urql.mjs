// Runs urql: a query by POST and by GET, a mutation, and the refetch that the mutation causes.
import { cacheExchange, Client, fetchExchange, gql } from "@urql/core";
import { authorization, ENDPOINT, makeBoard, nodes, report } from "./support.mjs";

const HOME_FEED = gql`
  query HomeFeed($first: Int) {
    viewer {
      id
      username
    }
    homeFeed(first: $first) {
      visitId
      edges {
        cursor
        reason
        node {
          id
          title
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;
const BOARD = gql`
  query Board($id: ID!) {
    board(id: $id) {
      id
      name
      pins(first: 10) {
        edges {
          node {
            id
            title
          }
        }
      }
    }
  }
`;
const CREATE = gql`
  mutation CreatePin($input: CreatePinInput!) {
    createPin(input: $input) {
      pin {
        id
        title
      }
      errors {
        field
        message
        code
      }
    }
  }
`;

const client = (preferGetMethod) =>
  new Client({
    url: ENDPOINT,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: () => ({ headers: authorization() }),
    preferGetMethod,
  });

function data({ data: answer, error }) {
  if (error) throw error;
  return answer;
}

// Returns the states of a view that shows the board, while a pin is added to the board.
async function boardWhilePinIsAdded(urql) {
  const board = await makeBoard("urql's board", ["one"]);
  const shown = [];
  const steps = [Promise.withResolvers(), Promise.withResolvers()];
  const { unsubscribe } = urql.query(BOARD, { id: board.id }).subscribe((result) => {
    if (result.stale) return;
    shown.push(nodes(data(result).board.pins).map((pin) => pin.title));
    steps[shown.length - 1]?.resolve();
  });
  await steps[0].promise;
  const input = { boardId: board.id, title: "two" };
  const { createPin } = data(await urql.mutation(CREATE, { input }).toPromise());
  await steps[1].promise;
  unsubscribe();
  return { shown, errors: createPin.errors };
}

await report(async () => {
  const urql = client(false);
  const feed = data(await urql.query(HOME_FEED, { first: 5 }).toPromise());
  const byGet = data(await client(true).query(HOME_FEED, { first: 5 }).toPromise());
  const refused = await urql.mutation(CREATE, { input: { boardId: "no id", title: "" } });
  return {
    viewer: feed.viewer.username,
    pins: nodes(feed.homeFeed).length,
    pinsByGet: nodes(byGet.homeFeed).length,
    viewerByGet: byGet.viewer.username,
    board: await boardWhilePinIsAdded(urql),
    refusal: {
      codes: refused.error?.graphQLErrors.map((error) => error.extensions?.code) ?? [],
      errors: refused.data?.createPin?.errors.map((error) => error.code) ?? [],
    },
  };
});
