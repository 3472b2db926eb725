// Follows or unfollows a person or a board. A job updates the feeds later: with the answer's
// feedToken, a feed waits for it.
import { graphql } from "../gen";
import type {
  FollowBoardMutation,
  FollowUserMutation,
  UnfollowBoardMutation,
  UnfollowUserMutation,
} from "../gen/graphql";
import { defineChange } from "../api/change";
import { followingFeed } from "../feed/following";
import { homeFeed } from "../feed/home";

const FollowUser = graphql(`
  mutation FollowUser($input: FollowUserInput!) {
    followUser(input: $input) {
      feedToken
      user {
        id
        viewerFollows
        followerCount
      }
      viewer {
        id
        followingCount
      }
      errors {
        message
      }
    }
  }
`);

const UnfollowUser = graphql(`
  mutation UnfollowUser($input: FollowUserInput!) {
    unfollowUser(input: $input) {
      feedToken
      user {
        id
        viewerFollows
        followerCount
      }
      viewer {
        id
        followingCount
      }
      errors {
        message
      }
    }
  }
`);

const FollowBoard = graphql(`
  mutation FollowBoard($input: FollowBoardInput!) {
    followBoard(input: $input) {
      feedToken
      board {
        id
        viewerFollows
        followerCount
      }
      errors {
        message
      }
    }
  }
`);

const UnfollowBoard = graphql(`
  mutation UnfollowBoard($input: FollowBoardInput!) {
    unfollowBoard(input: $input) {
      feedToken
      board {
        id
        viewerFollows
        followerCount
      }
      errors {
        message
      }
    }
  }
`);

export function expectInFeeds(token: string | null | undefined): void {
  homeFeed.expect(token);
  followingFeed.expect(token);
}

export const followUser = defineChange<{ userId: string }, FollowUserMutation>({
  name: "followUser",
  document: FollowUser,
  payload: (data) => data.followUser,
  update: (_cache, data) => expectInFeeds(data.followUser?.feedToken),
});

export const unfollowUser = defineChange<{ userId: string }, UnfollowUserMutation>({
  name: "unfollowUser",
  document: UnfollowUser,
  payload: (data) => data.unfollowUser,
  update: (_cache, data) => expectInFeeds(data.unfollowUser?.feedToken),
});

export const followBoard = defineChange<{ boardId: string }, FollowBoardMutation>({
  name: "followBoard",
  document: FollowBoard,
  payload: (data) => data.followBoard,
  update: (_cache, data) => expectInFeeds(data.followBoard?.feedToken),
});

export const unfollowBoard = defineChange<{ boardId: string }, UnfollowBoardMutation>({
  name: "unfollowBoard",
  document: UnfollowBoard,
  payload: (data) => data.unfollowBoard,
  update: (_cache, data) => expectInFeeds(data.unfollowBoard?.feedToken),
});
