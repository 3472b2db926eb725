const { graphql } = require("relay-runtime");

// What a card of a pin shows, wherever it stands.
graphql`
  fragment PinCard_pin on Pin {
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
    }
  }
`;
