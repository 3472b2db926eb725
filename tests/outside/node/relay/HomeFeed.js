const { graphql } = require("relay-runtime");

graphql`
  query HomeFeedQuery($count: Int!, $visit: ID) {
    viewer {
      id
      username
    }
    ...HomeFeed_query @arguments(count: $count, visit: $visit)
  }
`;

// A list that grows as the viewer scrolls: Relay makes the query for its later pages itself.
graphql`
  fragment HomeFeed_query on Query
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 10 }
    cursor: { type: "String" }
    visit: { type: "ID" }
  )
  @refetchable(queryName: "HomeFeedPaginationQuery") {
    homeFeed(first: $count, after: $cursor, visitId: $visit)
      @connection(key: "HomeFeed_homeFeed", filters: []) {
      visitId
      edges {
        reason
        node {
          id
          ...PinCard_pin
        }
      }
    }
  }
`;
