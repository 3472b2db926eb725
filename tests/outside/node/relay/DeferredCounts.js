const { graphql } = require("relay-runtime");

// A board whose pins come before their counts.
graphql`
  query DeferredCountsQuery($id: ID!) {
    board(id: $id) {
      name
      pins(first: 5) {
        edges {
          node {
            title
            owner {
              username
            }
            ...DeferredCounts_pin @defer(label: "counts")
          }
        }
      }
    }
  }
`;

graphql`
  fragment DeferredCounts_pin on Pin {
    likeCount
    owner {
      pinCount
    }
  }
`;
