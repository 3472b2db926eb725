const { graphql } = require("relay-runtime");

graphql`
  query BoardPinsQuery($id: ID!, $count: Int!) {
    node(id: $id) {
      __typename
      ... on Board {
        name
        owner {
          id
          username
        }
        ...BoardPins_board @arguments(count: $count) @alias(as: "page")
      }
    }
  }
`;

// Refetched by the board's id alone: what the Node interface is for.
graphql`
  fragment BoardPins_board on Board
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "BoardPinsPaginationQuery") {
    id
    pins(first: $count, after: $cursor) @connection(key: "BoardPins_pins") {
      edges {
        node {
          id
          ...PinCard_pin
        }
      }
    }
  }
`;

// A list that grows in both directions from a place in its middle.
graphql`
  query BoardPinsBothQuery($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    node(id: $id) {
      ...BoardPins_both @arguments(first: $first, after: $after, last: $last, before: $before)
        @alias(as: "both")
    }
  }
`;

graphql`
  fragment BoardPins_both on Board
  @argumentDefinitions(
    first: { type: "Int" }
    after: { type: "String" }
    last: { type: "Int" }
    before: { type: "String" }
  )
  @refetchable(queryName: "BoardPinsBothPaginationQuery") {
    pins(first: $first, after: $after, last: $last, before: $before)
      @connection(key: "BoardPinsBoth_pins") {
      edges {
        node {
          id
          title
        }
      }
    }
  }
`;

graphql`
  mutation BoardPinsCreateMutation($input: CreatePinInput!, $connections: [ID!]!) {
    createPin(input: $input) {
      pinEdge @prependEdge(connections: $connections) {
        cursor
        node {
          id
          ...PinCard_pin
        }
      }
      errors {
        field
        message
        code
      }
    }
  }
`;

graphql`
  mutation BoardPinsLikeMutation($input: LikePinInput!) {
    likePin(input: $input) {
      pin {
        id
        likeCount
        viewerHasLiked
      }
      errors {
        message
      }
    }
  }
`;

graphql`
  query BoardPinsLikedQuery {
    viewer {
      id
      likedPins(first: 10) @connection(key: "BoardPins_likedPins") {
        edges {
          node {
            id
          }
        }
      }
    }
  }
`;

graphql`
  mutation BoardPinsLikeEdgeMutation($input: LikePinInput!, $connections: [ID!]!) {
    likePin(input: $input) {
      likedPinEdge @prependEdge(connections: $connections) {
        cursor
        node {
          id
        }
      }
    }
  }
`;

graphql`
  mutation BoardPinsUnlikeEdgeMutation($input: LikePinInput!, $connections: [ID!]!) {
    unlikePin(input: $input) {
      unlikedPinId @deleteEdge(connections: $connections)
    }
  }
`;
