// Reads pages of the home feed into one list with Apollo Client, and shows mutations in its cache.
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { CombinedGraphQLErrors } from "@apollo/client/errors";
import { relayStylePagination } from "@apollo/client/utilities";
import { filter, firstValueFrom, from, map, timeout } from "rxjs";
import { authorization, ENDPOINT, makeBoard, nodes, report } from "./support.mjs";

const PAGE = 5;
const HOME_FEED = gql`
  query HomeFeed($first: Int, $after: String, $visit: ID) {
    homeFeed(first: $first, after: $after, visitId: $visit) {
      visitId
      edges {
        cursor
        reason
        node {
          id
          title
          likeCount
          viewerHasLiked
          image {
            url
          }
          board {
            id
            name
          }
          owner {
            id
            username
            viewerFollows
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
      health {
        pools
        materialized
        mayBeStale
      }
    }
  }
`;
const BOARD = gql`
  query Board($id: ID!, $first: Int, $after: String) {
    board(id: $id) {
      id
      pinCount
      pins(first: $first, after: $after) {
        edges {
          cursor
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
  }
`;
const LIKE = gql`
  mutation Like($input: LikePinInput!) {
    likePin(input: $input) {
      pin {
        id
        likeCount
        viewerHasLiked
      }
      errors {
        field
        message
        code
      }
    }
  }
`;
const FOLLOW = gql`
  mutation Follow($input: FollowUserInput!) {
    followUser(input: $input) {
      user {
        id
        viewerFollows
      }
      errors {
        message
      }
    }
  }
`;
const CREATE = gql`
  mutation Create($input: CreatePinInput!) {
    createPin(input: $input) {
      pin {
        id
        title
        board {
          id
          pinCount
        }
      }
      pinEdge {
        cursor
        node {
          id
          title
        }
      }
      errors {
        message
      }
    }
  }
`;
const REORDER = gql`
  mutation Reorder($input: ReorderPinInput!) {
    reorderPin(input: $input) {
      pinEdge {
        cursor
        node {
          id
        }
      }
      board {
        id
      }
      errors {
        message
      }
    }
  }
`;

function client(headers) {
  return new ApolloClient({
    link: ApolloLink.from([new HttpLink({ uri: ENDPOINT, headers })]),
    cache: new InMemoryCache({
      typePolicies: {
        Query: { fields: { homeFeed: relayStylePagination() } },
        Board: { fields: { pins: relayStylePagination() } },
      },
    }),
  });
}

// The home feed as one growing list, as a user who scrolls sees it. The cache keeps it up to date.
async function homeFeed(apollo, pages) {
  const watched = apollo.watchQuery({ query: HOME_FEED, variables: { first: PAGE } });
  // Waits until the list is as expected: the cache calls its watchers a moment after a change.
  const once = (isExpected) =>
    firstValueFrom(
      from(watched).pipe(
        filter((result) => result.dataState === "complete"),
        map((result) => result.data.homeFeed),
        filter(isExpected),
        timeout(20_000),
      ),
    );
  let shown = await once(() => true);
  const visit = shown.visitId;
  const pageSizes = [shown.edges.length];
  for (let page = 1; page < pages; page += 1) {
    const { endCursor: after } = shown.pageInfo;
    const more = await watched.fetchMore({ variables: { first: PAGE, after, visit } });
    const size = shown.edges.length + more.data.homeFeed.edges.length;
    shown = await once(({ edges }) => edges.length === size);
    pageSizes.push(more.data.homeFeed.edges.length);
  }
  return { shown, once, visit, pageSizes };
}

async function run(apollo, mutation, input, options = {}) {
  const { data } = await apollo.mutate({ mutation, variables: { input }, ...options });
  return Object.values(data)[0];
}

async function boardInTheCache(apollo) {
  const board = await makeBoard("Apollo's board", ["one", "two", "three"]);
  const read = async (policy) =>
    (
      await apollo.query({
        query: BOARD,
        variables: { id: board.id, first: 10 },
        fetchPolicy: policy,
      })
    ).data.board;
  const before = await read("network-only");
  const created = await run(
    apollo,
    CREATE,
    { boardId: board.id, title: "four" },
    {
      update: (cache, { data }) =>
        cache.modify({
          id: cache.identify({ __typename: "Board", id: board.id }),
          fields: {
            // The cache holds only the page that was read. The server counts all pins.
            pins: (pins, { toReference }) => ({
              ...pins,
              edges: [
                {
                  ...data.createPin.pinEdge,
                  node: toReference(cache.identify(data.createPin.pinEdge.node)),
                },
                ...pins.edges,
              ],
            }),
          },
        }),
    },
  );
  const cached = await read("cache-only");
  const [first, , third] = nodes(before.pins).map((pin) => pin.id);
  const moved = await run(apollo, REORDER, {
    boardId: board.id,
    pinId: first,
    beforePinId: third,
  });
  apollo.cache.evict({ id: apollo.cache.identify({ __typename: "Board", id: board.id }) });
  const after = await read("network-only");
  const titles = (shown) => nodes(shown.pins).map((pin) => pin.title);
  return {
    before: titles(before),
    createErrors: created.errors,
    cachedAfterCreate: titles(cached),
    cachedPinCount: cached.pinCount,
    moveErrors: moved.errors,
    afterMove: titles(after),
  };
}

async function withoutToken(pinId) {
  const anonymous = client({});
  try {
    await run(anonymous, LIKE, { pinId });
    return null;
  } catch (error) {
    if (!CombinedGraphQLErrors.is(error)) throw error;
    return error.errors.map((each) => each.extensions?.code);
  }
}

await report(async () => {
  const apollo = client(authorization());
  const { shown, once, visit, pageSizes } = await homeFeed(apollo, 3);
  const pins = nodes(shown);
  const target = pins.find((pin) => !pin.viewerHasLiked);
  const inFeed = (feed) => nodes(feed).find((pin) => pin.id === target.id);
  const liked = await run(apollo, LIKE, { pinId: target.id });
  const afterLike = inFeed(await once((feed) => inFeed(feed).viewerHasLiked));
  const author = pins.find((pin) => pin.owner && !pin.owner.viewerFollows)?.owner;
  const ofAuthor = (feed) => nodes(feed).filter((pin) => author && pin.owner?.id === author.id);
  if (author) await run(apollo, FOLLOW, { userId: author.id });
  const followed = await once((feed) => ofAuthor(feed).every((pin) => pin.owner.viewerFollows));
  return {
    visit,
    visitAfterPaging: shown.visitId,
    pageSizes,
    pins: pins.map((pin) => pin.id),
    reasons: shown.edges.map((edge) => edge.reason),
    health: shown.health,
    pictures: pins.map((pin) => pin.image?.url ?? null),
    likeErrors: liked.errors,
    likesBefore: target.likeCount,
    likesAnswered: liked.pin.likeCount,
    likesShown: afterLike.likeCount,
    pinsOfFollowedAuthor: ofAuthor(followed).length,
    board: await boardInTheCache(apollo),
    codesWithoutToken: await withoutToken(target.id),
  };
});
