/* eslint-disable */
import * as types from './graphql';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  mutation RefreshToken($input: RefreshTokenInput!) {\n    refreshToken(input: $input) {\n      token\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.RefreshTokenDocument,
    "\n  mutation DeleteAccount($input: DeleteAccountInput!) {\n    deleteAccount(input: $input) {\n      deletedUserId\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.DeleteAccountDocument,
    "\n  mutation ChangeUserName($input: ChangeUserNameInput!) {\n    changeUserName(input: $input) {\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.ChangeUserNameDocument,
    "\n  mutation SignOutEverywhere($input: SignOutEverywhereInput!) {\n    signOutEverywhere(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.SignOutEverywhereDocument,
    "\n  mutation MuteUser($input: MuteUserInput!) {\n    muteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.MuteUserDocument,
    "\n  mutation UnmuteUser($input: MuteUserInput!) {\n    unmuteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UnmuteUserDocument,
    "\n  mutation BlockUser($input: BlockUserInput!) {\n    blockUser(input: $input) {\n      blockedUser {\n        id\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.BlockUserDocument,
    "\n  mutation UnblockUser($input: BlockUserInput!) {\n    unblockUser(input: $input) {\n      unblockedUserId\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UnblockUserDocument,
    "\n  mutation CreateBoard($input: CreateBoardInput!) {\n    createBoard(input: $input) {\n      board {\n        id\n        ...BoardCard\n      }\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.CreateBoardDocument,
    "\n  mutation UpdateBoard($input: UpdateBoardInput!) {\n    updateBoard(input: $input) {\n      board {\n        id\n        name\n        description\n        secret\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UpdateBoardDocument,
    "\n  mutation DeleteBoard($input: DeleteBoardInput!) {\n    deleteBoard(input: $input) {\n      deletedBoardId\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.DeleteBoardDocument,
    "\n  mutation ReorderPins($input: ReorderPinsInput!) {\n    reorderPins(input: $input) {\n      board {\n        id\n      }\n      orderVersion\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.ReorderPinsDocument,
    "\n  mutation CreateComment($input: CreateCommentInput!) {\n    createComment(input: $input) {\n      comment {\n        id\n        ...CommentRow\n      }\n      pin {\n        id\n        commentCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.CreateCommentDocument,
    "\n  mutation RecordEvents($input: RecordEventsInput!) {\n    recordEvents(input: $input) {\n      errors {\n        code\n      }\n    }\n  }\n": typeof types.RecordEventsDocument,
    "\n  mutation DeleteEvents($input: DeleteEventsInput!) {\n    deleteEvents(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.DeleteEventsDocument,
    "\n  mutation FollowUser($input: FollowUserInput!) {\n    followUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.FollowUserDocument,
    "\n  mutation UnfollowUser($input: FollowUserInput!) {\n    unfollowUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UnfollowUserDocument,
    "\n  mutation FollowBoard($input: FollowBoardInput!) {\n    followBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.FollowBoardDocument,
    "\n  mutation UnfollowBoard($input: FollowBoardInput!) {\n    unfollowBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UnfollowBoardDocument,
    "\n  mutation LikePin($input: LikePinInput!) {\n    likePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.LikePinDocument,
    "\n  mutation UnlikePin($input: LikePinInput!) {\n    unlikePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UnlikePinDocument,
    "\n  mutation CreatePin($input: CreatePinInput!) {\n    createPin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.CreatePinDocument,
    "\n  mutation Repin($input: RepinInput!) {\n    repin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.RepinDocument,
    "\n  mutation MovePin($input: MovePinInput!) {\n    movePin(input: $input) {\n      feedToken\n      pin {\n        id\n        board {\n          id\n          name\n        }\n      }\n      fromBoard {\n        id\n        pinCount\n      }\n      toBoard {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.MovePinDocument,
    "\n  mutation DeletePin($input: DeletePinInput!) {\n    deletePin(input: $input) {\n      deletedPinId\n      board {\n        id\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.DeletePinDocument,
    "\n  mutation HidePin($input: HidePinInput!) {\n    hidePin(input: $input) {\n      hiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.HidePinDocument,
    "\n  mutation UnhidePin($input: HidePinInput!) {\n    unhidePin(input: $input) {\n      unhiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UnhidePinDocument,
    "\n  mutation SeeLess($input: FeedPreferenceInput!) {\n    seeLess(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.SeeLessDocument,
    "\n  mutation SeeAsUsual($input: FeedPreferenceInput!) {\n    seeAsUsual(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.SeeAsUsualDocument,
    "\n  mutation UpdateProfile($input: UpdateProfileInput!) {\n    updateProfile(input: $input) {\n      user {\n        id\n        fullName\n        about\n        avatar {\n          url\n        }\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.UpdateProfileDocument,
    "\n  mutation CreateUpload($input: CreateUploadInput!) {\n    createUpload(input: $input) {\n      url\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.CreateUploadDocument,
    "\n  query BlockedPeople {\n    blockedUsers(first: 100) {\n      edges {\n        node {\n          id\n          username\n          fullName\n        }\n      }\n    }\n  }\n": typeof types.BlockedPeopleDocument,
    "\n  fragment BoardCard on Board {\n    id\n    name\n    secret\n    pinCount\n    cover {\n      id\n      image {\n        url\n        width\n        height\n        dominantColor\n      }\n    }\n  }\n": typeof types.BoardCardFragmentDoc,
    "\n  query MyBoards {\n    viewer {\n      id\n      boards(first: 100) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": typeof types.MyBoardsDocument,
    "\n  fragment PersonToFollow on User {\n    id\n    username\n    fullName\n    pinCount\n    viewerFollows\n    avatar {\n      url\n    }\n    covers: boards(first: 3) {\n      edges {\n        node {\n          id\n          cover {\n            id\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n      }\n    }\n  }\n": typeof types.PersonToFollowFragmentDoc,
    "\n  query PeopleToFollow($ids: [ID!]!) {\n    viewer {\n      id\n      followingCount\n    }\n    nodes(ids: $ids) {\n      id\n      ...PersonToFollow\n    }\n  }\n": typeof types.PeopleToFollowDocument,
    "\n  fragment PinCard on Pin {\n    id\n    title\n    link\n    image {\n      url\n      width\n      height\n      dominantColor\n    }\n    likeCount\n    viewerHasLiked\n    owner {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n": typeof types.PinCardFragmentDoc,
    "\n  query Suggestions($prefix: String!) {\n    suggest(prefix: $prefix) {\n      text\n      parts {\n        text\n        matched\n      }\n      node {\n        ... on Pin {\n          id\n        }\n        ... on Board {\n          id\n        }\n        ... on User {\n          id\n          username\n        }\n      }\n    }\n  }\n": typeof types.SuggestionsDocument,
    "\n  query FollowingFeed($first: Int!, $after: String, $seen: String) {\n    followingFeed(first: $first, after: $after, seen: $seen) {\n      health {\n        store\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n": typeof types.FollowingFeedDocument,
    "\n  query HomeFeed($first: Int!, $after: String, $visit: ID, $seen: String) {\n    homeFeed(first: $first, after: $after, visitId: $visit, seen: $seen) {\n      visitId\n      health {\n        pools\n        materialized\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        reason\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n": typeof types.HomeFeedDocument,
    "\n  subscription NewPins {\n    homeFeedUpdated {\n      waiting\n      more\n    }\n  }\n": typeof types.NewPinsDocument,
    "\n  query BoardPage($id: ID!, $after: String) {\n    board(id: $id) {\n      id\n      name\n      description\n      secret\n      pinCount\n      followerCount\n      viewerFollows\n      viewerCanEdit\n      owner {\n        id\n        username\n        fullName\n      }\n      pins(first: 100, after: $after) {\n        edges {\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": typeof types.BoardPageDocument,
    "\n  query Gallery {\n    viewer {\n      id\n      likedPins(first: 24) {\n        edges {\n          node {\n            id\n            title\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": typeof types.GalleryDocument,
    "\n  query PinPage($id: ID!) {\n    pin(id: $id) {\n      id\n      ...PinCard\n      description\n      owner {\n        id\n        avatar {\n          url\n        }\n        viewerFollows\n      }\n      board {\n        id\n        name\n        secret\n        viewerCanEdit\n      }\n      commentCount\n      comments(first: 20) {\n        edges {\n          node {\n            id\n            ...CommentRow\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": typeof types.PinPageDocument,
    "\n  fragment CommentRow on Comment {\n    id\n    text\n    createdAt\n    author {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n": typeof types.CommentRowFragmentDoc,
    "\n  query Related($id: ID!) {\n    pin(id: $id) {\n      id\n      related(first: 36) {\n        id\n        ...PinCard\n      }\n      interests {\n        id\n        pins(first: 12) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n      board {\n        id\n        beside: pins(first: 24) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n    }\n  }\n": typeof types.RelatedDocument,
    "\n  query ProfilePage($name: String!) {\n    viewer {\n      id\n    }\n    user(username: $name) {\n      id\n      username\n      fullName\n      about\n      avatar {\n        url\n      }\n      followerCount\n      followingCount\n      viewerFollows\n      viewerMutes\n      boards(first: 50) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": typeof types.ProfilePageDocument,
    "\n  query ProfilePins($name: String!, $after: String) {\n    user(username: $name) {\n      id\n      pins(first: 50, after: $after) {\n        edges {\n          cursor\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": typeof types.ProfilePinsDocument,
    "\n  query SearchPage($text: String!) {\n    people: search(text: $text, types: [USER], first: 12) {\n      edges {\n        highlights {\n          field\n          parts {\n            text\n            matched\n          }\n        }\n        node {\n          ... on User {\n            id\n            username\n            fullName\n            avatar {\n              url\n            }\n          }\n        }\n      }\n    }\n    boards: search(text: $text, types: [BOARD], first: 12) {\n      edges {\n        node {\n          ... on Board {\n            id\n            ...BoardCard\n          }\n        }\n      }\n    }\n  }\n": typeof types.SearchPageDocument,
    "\n  query SearchPins($text: String!, $after: String) {\n    search(text: $text, types: [PIN], first: 25, after: $after) {\n      edges {\n        cursor\n        node {\n          ... on Pin {\n            id\n            ...PinCard\n          }\n        }\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n": typeof types.SearchPinsDocument,
    "\n  query People($offered: String!) {\n    user(username: $offered) {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n    users(first: 24) {\n      edges {\n        node {\n          id\n          username\n          fullName\n          avatar {\n            url\n          }\n        }\n      }\n    }\n  }\n": typeof types.PeopleDocument,
    "\n  mutation SignUp($input: SignUpInput!) {\n    signUp(input: $input) {\n      token\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n": typeof types.SignUpDocument,
};
const documents: Documents = {
    "\n  mutation RefreshToken($input: RefreshTokenInput!) {\n    refreshToken(input: $input) {\n      token\n      errors {\n        message\n      }\n    }\n  }\n": types.RefreshTokenDocument,
    "\n  mutation DeleteAccount($input: DeleteAccountInput!) {\n    deleteAccount(input: $input) {\n      deletedUserId\n      errors {\n        message\n      }\n    }\n  }\n": types.DeleteAccountDocument,
    "\n  mutation ChangeUserName($input: ChangeUserNameInput!) {\n    changeUserName(input: $input) {\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.ChangeUserNameDocument,
    "\n  mutation SignOutEverywhere($input: SignOutEverywhereInput!) {\n    signOutEverywhere(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n": types.SignOutEverywhereDocument,
    "\n  mutation MuteUser($input: MuteUserInput!) {\n    muteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.MuteUserDocument,
    "\n  mutation UnmuteUser($input: MuteUserInput!) {\n    unmuteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.UnmuteUserDocument,
    "\n  mutation BlockUser($input: BlockUserInput!) {\n    blockUser(input: $input) {\n      blockedUser {\n        id\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.BlockUserDocument,
    "\n  mutation UnblockUser($input: BlockUserInput!) {\n    unblockUser(input: $input) {\n      unblockedUserId\n      errors {\n        message\n      }\n    }\n  }\n": types.UnblockUserDocument,
    "\n  mutation CreateBoard($input: CreateBoardInput!) {\n    createBoard(input: $input) {\n      board {\n        id\n        ...BoardCard\n      }\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.CreateBoardDocument,
    "\n  mutation UpdateBoard($input: UpdateBoardInput!) {\n    updateBoard(input: $input) {\n      board {\n        id\n        name\n        description\n        secret\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.UpdateBoardDocument,
    "\n  mutation DeleteBoard($input: DeleteBoardInput!) {\n    deleteBoard(input: $input) {\n      deletedBoardId\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.DeleteBoardDocument,
    "\n  mutation ReorderPins($input: ReorderPinsInput!) {\n    reorderPins(input: $input) {\n      board {\n        id\n      }\n      orderVersion\n      errors {\n        message\n      }\n    }\n  }\n": types.ReorderPinsDocument,
    "\n  mutation CreateComment($input: CreateCommentInput!) {\n    createComment(input: $input) {\n      comment {\n        id\n        ...CommentRow\n      }\n      pin {\n        id\n        commentCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.CreateCommentDocument,
    "\n  mutation RecordEvents($input: RecordEventsInput!) {\n    recordEvents(input: $input) {\n      errors {\n        code\n      }\n    }\n  }\n": types.RecordEventsDocument,
    "\n  mutation DeleteEvents($input: DeleteEventsInput!) {\n    deleteEvents(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n": types.DeleteEventsDocument,
    "\n  mutation FollowUser($input: FollowUserInput!) {\n    followUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.FollowUserDocument,
    "\n  mutation UnfollowUser($input: FollowUserInput!) {\n    unfollowUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.UnfollowUserDocument,
    "\n  mutation FollowBoard($input: FollowBoardInput!) {\n    followBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.FollowBoardDocument,
    "\n  mutation UnfollowBoard($input: FollowBoardInput!) {\n    unfollowBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.UnfollowBoardDocument,
    "\n  mutation LikePin($input: LikePinInput!) {\n    likePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.LikePinDocument,
    "\n  mutation UnlikePin($input: LikePinInput!) {\n    unlikePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.UnlikePinDocument,
    "\n  mutation CreatePin($input: CreatePinInput!) {\n    createPin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.CreatePinDocument,
    "\n  mutation Repin($input: RepinInput!) {\n    repin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.RepinDocument,
    "\n  mutation MovePin($input: MovePinInput!) {\n    movePin(input: $input) {\n      feedToken\n      pin {\n        id\n        board {\n          id\n          name\n        }\n      }\n      fromBoard {\n        id\n        pinCount\n      }\n      toBoard {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.MovePinDocument,
    "\n  mutation DeletePin($input: DeletePinInput!) {\n    deletePin(input: $input) {\n      deletedPinId\n      board {\n        id\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.DeletePinDocument,
    "\n  mutation HidePin($input: HidePinInput!) {\n    hidePin(input: $input) {\n      hiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n": types.HidePinDocument,
    "\n  mutation UnhidePin($input: HidePinInput!) {\n    unhidePin(input: $input) {\n      unhiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n": types.UnhidePinDocument,
    "\n  mutation SeeLess($input: FeedPreferenceInput!) {\n    seeLess(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n": types.SeeLessDocument,
    "\n  mutation SeeAsUsual($input: FeedPreferenceInput!) {\n    seeAsUsual(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n": types.SeeAsUsualDocument,
    "\n  mutation UpdateProfile($input: UpdateProfileInput!) {\n    updateProfile(input: $input) {\n      user {\n        id\n        fullName\n        about\n        avatar {\n          url\n        }\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.UpdateProfileDocument,
    "\n  mutation CreateUpload($input: CreateUploadInput!) {\n    createUpload(input: $input) {\n      url\n      errors {\n        message\n      }\n    }\n  }\n": types.CreateUploadDocument,
    "\n  query BlockedPeople {\n    blockedUsers(first: 100) {\n      edges {\n        node {\n          id\n          username\n          fullName\n        }\n      }\n    }\n  }\n": types.BlockedPeopleDocument,
    "\n  fragment BoardCard on Board {\n    id\n    name\n    secret\n    pinCount\n    cover {\n      id\n      image {\n        url\n        width\n        height\n        dominantColor\n      }\n    }\n  }\n": types.BoardCardFragmentDoc,
    "\n  query MyBoards {\n    viewer {\n      id\n      boards(first: 100) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": types.MyBoardsDocument,
    "\n  fragment PersonToFollow on User {\n    id\n    username\n    fullName\n    pinCount\n    viewerFollows\n    avatar {\n      url\n    }\n    covers: boards(first: 3) {\n      edges {\n        node {\n          id\n          cover {\n            id\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n      }\n    }\n  }\n": types.PersonToFollowFragmentDoc,
    "\n  query PeopleToFollow($ids: [ID!]!) {\n    viewer {\n      id\n      followingCount\n    }\n    nodes(ids: $ids) {\n      id\n      ...PersonToFollow\n    }\n  }\n": types.PeopleToFollowDocument,
    "\n  fragment PinCard on Pin {\n    id\n    title\n    link\n    image {\n      url\n      width\n      height\n      dominantColor\n    }\n    likeCount\n    viewerHasLiked\n    owner {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n": types.PinCardFragmentDoc,
    "\n  query Suggestions($prefix: String!) {\n    suggest(prefix: $prefix) {\n      text\n      parts {\n        text\n        matched\n      }\n      node {\n        ... on Pin {\n          id\n        }\n        ... on Board {\n          id\n        }\n        ... on User {\n          id\n          username\n        }\n      }\n    }\n  }\n": types.SuggestionsDocument,
    "\n  query FollowingFeed($first: Int!, $after: String, $seen: String) {\n    followingFeed(first: $first, after: $after, seen: $seen) {\n      health {\n        store\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n": types.FollowingFeedDocument,
    "\n  query HomeFeed($first: Int!, $after: String, $visit: ID, $seen: String) {\n    homeFeed(first: $first, after: $after, visitId: $visit, seen: $seen) {\n      visitId\n      health {\n        pools\n        materialized\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        reason\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n": types.HomeFeedDocument,
    "\n  subscription NewPins {\n    homeFeedUpdated {\n      waiting\n      more\n    }\n  }\n": types.NewPinsDocument,
    "\n  query BoardPage($id: ID!, $after: String) {\n    board(id: $id) {\n      id\n      name\n      description\n      secret\n      pinCount\n      followerCount\n      viewerFollows\n      viewerCanEdit\n      owner {\n        id\n        username\n        fullName\n      }\n      pins(first: 100, after: $after) {\n        edges {\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": types.BoardPageDocument,
    "\n  query Gallery {\n    viewer {\n      id\n      likedPins(first: 24) {\n        edges {\n          node {\n            id\n            title\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": types.GalleryDocument,
    "\n  query PinPage($id: ID!) {\n    pin(id: $id) {\n      id\n      ...PinCard\n      description\n      owner {\n        id\n        avatar {\n          url\n        }\n        viewerFollows\n      }\n      board {\n        id\n        name\n        secret\n        viewerCanEdit\n      }\n      commentCount\n      comments(first: 20) {\n        edges {\n          node {\n            id\n            ...CommentRow\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": types.PinPageDocument,
    "\n  fragment CommentRow on Comment {\n    id\n    text\n    createdAt\n    author {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n": types.CommentRowFragmentDoc,
    "\n  query Related($id: ID!) {\n    pin(id: $id) {\n      id\n      related(first: 36) {\n        id\n        ...PinCard\n      }\n      interests {\n        id\n        pins(first: 12) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n      board {\n        id\n        beside: pins(first: 24) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n    }\n  }\n": types.RelatedDocument,
    "\n  query ProfilePage($name: String!) {\n    viewer {\n      id\n    }\n    user(username: $name) {\n      id\n      username\n      fullName\n      about\n      avatar {\n        url\n      }\n      followerCount\n      followingCount\n      viewerFollows\n      viewerMutes\n      boards(first: 50) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": types.ProfilePageDocument,
    "\n  query ProfilePins($name: String!, $after: String) {\n    user(username: $name) {\n      id\n      pins(first: 50, after: $after) {\n        edges {\n          cursor\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n": types.ProfilePinsDocument,
    "\n  query SearchPage($text: String!) {\n    people: search(text: $text, types: [USER], first: 12) {\n      edges {\n        highlights {\n          field\n          parts {\n            text\n            matched\n          }\n        }\n        node {\n          ... on User {\n            id\n            username\n            fullName\n            avatar {\n              url\n            }\n          }\n        }\n      }\n    }\n    boards: search(text: $text, types: [BOARD], first: 12) {\n      edges {\n        node {\n          ... on Board {\n            id\n            ...BoardCard\n          }\n        }\n      }\n    }\n  }\n": types.SearchPageDocument,
    "\n  query SearchPins($text: String!, $after: String) {\n    search(text: $text, types: [PIN], first: 25, after: $after) {\n      edges {\n        cursor\n        node {\n          ... on Pin {\n            id\n            ...PinCard\n          }\n        }\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n": types.SearchPinsDocument,
    "\n  query People($offered: String!) {\n    user(username: $offered) {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n    users(first: 24) {\n      edges {\n        node {\n          id\n          username\n          fullName\n          avatar {\n            url\n          }\n        }\n      }\n    }\n  }\n": types.PeopleDocument,
    "\n  mutation SignUp($input: SignUpInput!) {\n    signUp(input: $input) {\n      token\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n": types.SignUpDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation RefreshToken($input: RefreshTokenInput!) {\n    refreshToken(input: $input) {\n      token\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation RefreshToken($input: RefreshTokenInput!) {\n    refreshToken(input: $input) {\n      token\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation DeleteAccount($input: DeleteAccountInput!) {\n    deleteAccount(input: $input) {\n      deletedUserId\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation DeleteAccount($input: DeleteAccountInput!) {\n    deleteAccount(input: $input) {\n      deletedUserId\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation ChangeUserName($input: ChangeUserNameInput!) {\n    changeUserName(input: $input) {\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation ChangeUserName($input: ChangeUserNameInput!) {\n    changeUserName(input: $input) {\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation SignOutEverywhere($input: SignOutEverywhereInput!) {\n    signOutEverywhere(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation SignOutEverywhere($input: SignOutEverywhereInput!) {\n    signOutEverywhere(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation MuteUser($input: MuteUserInput!) {\n    muteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation MuteUser($input: MuteUserInput!) {\n    muteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UnmuteUser($input: MuteUserInput!) {\n    unmuteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UnmuteUser($input: MuteUserInput!) {\n    unmuteUser(input: $input) {\n      user {\n        id\n        viewerMutes\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation BlockUser($input: BlockUserInput!) {\n    blockUser(input: $input) {\n      blockedUser {\n        id\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation BlockUser($input: BlockUserInput!) {\n    blockUser(input: $input) {\n      blockedUser {\n        id\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UnblockUser($input: BlockUserInput!) {\n    unblockUser(input: $input) {\n      unblockedUserId\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UnblockUser($input: BlockUserInput!) {\n    unblockUser(input: $input) {\n      unblockedUserId\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation CreateBoard($input: CreateBoardInput!) {\n    createBoard(input: $input) {\n      board {\n        id\n        ...BoardCard\n      }\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation CreateBoard($input: CreateBoardInput!) {\n    createBoard(input: $input) {\n      board {\n        id\n        ...BoardCard\n      }\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UpdateBoard($input: UpdateBoardInput!) {\n    updateBoard(input: $input) {\n      board {\n        id\n        name\n        description\n        secret\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UpdateBoard($input: UpdateBoardInput!) {\n    updateBoard(input: $input) {\n      board {\n        id\n        name\n        description\n        secret\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation DeleteBoard($input: DeleteBoardInput!) {\n    deleteBoard(input: $input) {\n      deletedBoardId\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation DeleteBoard($input: DeleteBoardInput!) {\n    deleteBoard(input: $input) {\n      deletedBoardId\n      user {\n        id\n        boardCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation ReorderPins($input: ReorderPinsInput!) {\n    reorderPins(input: $input) {\n      board {\n        id\n      }\n      orderVersion\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation ReorderPins($input: ReorderPinsInput!) {\n    reorderPins(input: $input) {\n      board {\n        id\n      }\n      orderVersion\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation CreateComment($input: CreateCommentInput!) {\n    createComment(input: $input) {\n      comment {\n        id\n        ...CommentRow\n      }\n      pin {\n        id\n        commentCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation CreateComment($input: CreateCommentInput!) {\n    createComment(input: $input) {\n      comment {\n        id\n        ...CommentRow\n      }\n      pin {\n        id\n        commentCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation RecordEvents($input: RecordEventsInput!) {\n    recordEvents(input: $input) {\n      errors {\n        code\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation RecordEvents($input: RecordEventsInput!) {\n    recordEvents(input: $input) {\n      errors {\n        code\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation DeleteEvents($input: DeleteEventsInput!) {\n    deleteEvents(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation DeleteEvents($input: DeleteEventsInput!) {\n    deleteEvents(input: $input) {\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation FollowUser($input: FollowUserInput!) {\n    followUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation FollowUser($input: FollowUserInput!) {\n    followUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UnfollowUser($input: FollowUserInput!) {\n    unfollowUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UnfollowUser($input: FollowUserInput!) {\n    unfollowUser(input: $input) {\n      feedToken\n      user {\n        id\n        viewerFollows\n        followerCount\n      }\n      viewer {\n        id\n        followingCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation FollowBoard($input: FollowBoardInput!) {\n    followBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation FollowBoard($input: FollowBoardInput!) {\n    followBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UnfollowBoard($input: FollowBoardInput!) {\n    unfollowBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UnfollowBoard($input: FollowBoardInput!) {\n    unfollowBoard(input: $input) {\n      feedToken\n      board {\n        id\n        viewerFollows\n        followerCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation LikePin($input: LikePinInput!) {\n    likePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation LikePin($input: LikePinInput!) {\n    likePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UnlikePin($input: LikePinInput!) {\n    unlikePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UnlikePin($input: LikePinInput!) {\n    unlikePin(input: $input) {\n      pin {\n        id\n        likeCount\n        viewerHasLiked\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation CreatePin($input: CreatePinInput!) {\n    createPin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation CreatePin($input: CreatePinInput!) {\n    createPin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation Repin($input: RepinInput!) {\n    repin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation Repin($input: RepinInput!) {\n    repin(input: $input) {\n      feedToken\n      pin {\n        id\n        ...PinCard\n      }\n      board {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation MovePin($input: MovePinInput!) {\n    movePin(input: $input) {\n      feedToken\n      pin {\n        id\n        board {\n          id\n          name\n        }\n      }\n      fromBoard {\n        id\n        pinCount\n      }\n      toBoard {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation MovePin($input: MovePinInput!) {\n    movePin(input: $input) {\n      feedToken\n      pin {\n        id\n        board {\n          id\n          name\n        }\n      }\n      fromBoard {\n        id\n        pinCount\n      }\n      toBoard {\n        id\n        name\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation DeletePin($input: DeletePinInput!) {\n    deletePin(input: $input) {\n      deletedPinId\n      board {\n        id\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation DeletePin($input: DeletePinInput!) {\n    deletePin(input: $input) {\n      deletedPinId\n      board {\n        id\n        pinCount\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation HidePin($input: HidePinInput!) {\n    hidePin(input: $input) {\n      hiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation HidePin($input: HidePinInput!) {\n    hidePin(input: $input) {\n      hiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UnhidePin($input: HidePinInput!) {\n    unhidePin(input: $input) {\n      unhiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UnhidePin($input: HidePinInput!) {\n    unhidePin(input: $input) {\n      unhiddenPinId\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation SeeLess($input: FeedPreferenceInput!) {\n    seeLess(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation SeeLess($input: FeedPreferenceInput!) {\n    seeLess(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation SeeAsUsual($input: FeedPreferenceInput!) {\n    seeAsUsual(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation SeeAsUsual($input: FeedPreferenceInput!) {\n    seeAsUsual(input: $input) {\n      preference\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation UpdateProfile($input: UpdateProfileInput!) {\n    updateProfile(input: $input) {\n      user {\n        id\n        fullName\n        about\n        avatar {\n          url\n        }\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation UpdateProfile($input: UpdateProfileInput!) {\n    updateProfile(input: $input) {\n      user {\n        id\n        fullName\n        about\n        avatar {\n          url\n        }\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation CreateUpload($input: CreateUploadInput!) {\n    createUpload(input: $input) {\n      url\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation CreateUpload($input: CreateUploadInput!) {\n    createUpload(input: $input) {\n      url\n      errors {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query BlockedPeople {\n    blockedUsers(first: 100) {\n      edges {\n        node {\n          id\n          username\n          fullName\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query BlockedPeople {\n    blockedUsers(first: 100) {\n      edges {\n        node {\n          id\n          username\n          fullName\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment BoardCard on Board {\n    id\n    name\n    secret\n    pinCount\n    cover {\n      id\n      image {\n        url\n        width\n        height\n        dominantColor\n      }\n    }\n  }\n"): (typeof documents)["\n  fragment BoardCard on Board {\n    id\n    name\n    secret\n    pinCount\n    cover {\n      id\n      image {\n        url\n        width\n        height\n        dominantColor\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query MyBoards {\n    viewer {\n      id\n      boards(first: 100) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query MyBoards {\n    viewer {\n      id\n      boards(first: 100) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment PersonToFollow on User {\n    id\n    username\n    fullName\n    pinCount\n    viewerFollows\n    avatar {\n      url\n    }\n    covers: boards(first: 3) {\n      edges {\n        node {\n          id\n          cover {\n            id\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  fragment PersonToFollow on User {\n    id\n    username\n    fullName\n    pinCount\n    viewerFollows\n    avatar {\n      url\n    }\n    covers: boards(first: 3) {\n      edges {\n        node {\n          id\n          cover {\n            id\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query PeopleToFollow($ids: [ID!]!) {\n    viewer {\n      id\n      followingCount\n    }\n    nodes(ids: $ids) {\n      id\n      ...PersonToFollow\n    }\n  }\n"): (typeof documents)["\n  query PeopleToFollow($ids: [ID!]!) {\n    viewer {\n      id\n      followingCount\n    }\n    nodes(ids: $ids) {\n      id\n      ...PersonToFollow\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment PinCard on Pin {\n    id\n    title\n    link\n    image {\n      url\n      width\n      height\n      dominantColor\n    }\n    likeCount\n    viewerHasLiked\n    owner {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n"): (typeof documents)["\n  fragment PinCard on Pin {\n    id\n    title\n    link\n    image {\n      url\n      width\n      height\n      dominantColor\n    }\n    likeCount\n    viewerHasLiked\n    owner {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Suggestions($prefix: String!) {\n    suggest(prefix: $prefix) {\n      text\n      parts {\n        text\n        matched\n      }\n      node {\n        ... on Pin {\n          id\n        }\n        ... on Board {\n          id\n        }\n        ... on User {\n          id\n          username\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query Suggestions($prefix: String!) {\n    suggest(prefix: $prefix) {\n      text\n      parts {\n        text\n        matched\n      }\n      node {\n        ... on Pin {\n          id\n        }\n        ... on Board {\n          id\n        }\n        ... on User {\n          id\n          username\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query FollowingFeed($first: Int!, $after: String, $seen: String) {\n    followingFeed(first: $first, after: $after, seen: $seen) {\n      health {\n        store\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query FollowingFeed($first: Int!, $after: String, $seen: String) {\n    followingFeed(first: $first, after: $after, seen: $seen) {\n      health {\n        store\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query HomeFeed($first: Int!, $after: String, $visit: ID, $seen: String) {\n    homeFeed(first: $first, after: $after, visitId: $visit, seen: $seen) {\n      visitId\n      health {\n        pools\n        materialized\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        reason\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query HomeFeed($first: Int!, $after: String, $visit: ID, $seen: String) {\n    homeFeed(first: $first, after: $after, visitId: $visit, seen: $seen) {\n      visitId\n      health {\n        pools\n        materialized\n        mayBeStale\n        staleSince\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      edges {\n        reason\n        node {\n          id\n          ...PinCard\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription NewPins {\n    homeFeedUpdated {\n      waiting\n      more\n    }\n  }\n"): (typeof documents)["\n  subscription NewPins {\n    homeFeedUpdated {\n      waiting\n      more\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query BoardPage($id: ID!, $after: String) {\n    board(id: $id) {\n      id\n      name\n      description\n      secret\n      pinCount\n      followerCount\n      viewerFollows\n      viewerCanEdit\n      owner {\n        id\n        username\n        fullName\n      }\n      pins(first: 100, after: $after) {\n        edges {\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query BoardPage($id: ID!, $after: String) {\n    board(id: $id) {\n      id\n      name\n      description\n      secret\n      pinCount\n      followerCount\n      viewerFollows\n      viewerCanEdit\n      owner {\n        id\n        username\n        fullName\n      }\n      pins(first: 100, after: $after) {\n        edges {\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Gallery {\n    viewer {\n      id\n      likedPins(first: 24) {\n        edges {\n          node {\n            id\n            title\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query Gallery {\n    viewer {\n      id\n      likedPins(first: 24) {\n        edges {\n          node {\n            id\n            title\n            image {\n              url\n              width\n              height\n              dominantColor\n            }\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query PinPage($id: ID!) {\n    pin(id: $id) {\n      id\n      ...PinCard\n      description\n      owner {\n        id\n        avatar {\n          url\n        }\n        viewerFollows\n      }\n      board {\n        id\n        name\n        secret\n        viewerCanEdit\n      }\n      commentCount\n      comments(first: 20) {\n        edges {\n          node {\n            id\n            ...CommentRow\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query PinPage($id: ID!) {\n    pin(id: $id) {\n      id\n      ...PinCard\n      description\n      owner {\n        id\n        avatar {\n          url\n        }\n        viewerFollows\n      }\n      board {\n        id\n        name\n        secret\n        viewerCanEdit\n      }\n      commentCount\n      comments(first: 20) {\n        edges {\n          node {\n            id\n            ...CommentRow\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment CommentRow on Comment {\n    id\n    text\n    createdAt\n    author {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n"): (typeof documents)["\n  fragment CommentRow on Comment {\n    id\n    text\n    createdAt\n    author {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Related($id: ID!) {\n    pin(id: $id) {\n      id\n      related(first: 36) {\n        id\n        ...PinCard\n      }\n      interests {\n        id\n        pins(first: 12) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n      board {\n        id\n        beside: pins(first: 24) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query Related($id: ID!) {\n    pin(id: $id) {\n      id\n      related(first: 36) {\n        id\n        ...PinCard\n      }\n      interests {\n        id\n        pins(first: 12) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n      board {\n        id\n        beside: pins(first: 24) {\n          edges {\n            node {\n              id\n              ...PinCard\n            }\n          }\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ProfilePage($name: String!) {\n    viewer {\n      id\n    }\n    user(username: $name) {\n      id\n      username\n      fullName\n      about\n      avatar {\n        url\n      }\n      followerCount\n      followingCount\n      viewerFollows\n      viewerMutes\n      boards(first: 50) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query ProfilePage($name: String!) {\n    viewer {\n      id\n    }\n    user(username: $name) {\n      id\n      username\n      fullName\n      about\n      avatar {\n        url\n      }\n      followerCount\n      followingCount\n      viewerFollows\n      viewerMutes\n      boards(first: 50) {\n        edges {\n          node {\n            id\n            ...BoardCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ProfilePins($name: String!, $after: String) {\n    user(username: $name) {\n      id\n      pins(first: 50, after: $after) {\n        edges {\n          cursor\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query ProfilePins($name: String!, $after: String) {\n    user(username: $name) {\n      id\n      pins(first: 50, after: $after) {\n        edges {\n          cursor\n          node {\n            id\n            ...PinCard\n          }\n        }\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query SearchPage($text: String!) {\n    people: search(text: $text, types: [USER], first: 12) {\n      edges {\n        highlights {\n          field\n          parts {\n            text\n            matched\n          }\n        }\n        node {\n          ... on User {\n            id\n            username\n            fullName\n            avatar {\n              url\n            }\n          }\n        }\n      }\n    }\n    boards: search(text: $text, types: [BOARD], first: 12) {\n      edges {\n        node {\n          ... on Board {\n            id\n            ...BoardCard\n          }\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query SearchPage($text: String!) {\n    people: search(text: $text, types: [USER], first: 12) {\n      edges {\n        highlights {\n          field\n          parts {\n            text\n            matched\n          }\n        }\n        node {\n          ... on User {\n            id\n            username\n            fullName\n            avatar {\n              url\n            }\n          }\n        }\n      }\n    }\n    boards: search(text: $text, types: [BOARD], first: 12) {\n      edges {\n        node {\n          ... on Board {\n            id\n            ...BoardCard\n          }\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query SearchPins($text: String!, $after: String) {\n    search(text: $text, types: [PIN], first: 25, after: $after) {\n      edges {\n        cursor\n        node {\n          ... on Pin {\n            id\n            ...PinCard\n          }\n        }\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n"): (typeof documents)["\n  query SearchPins($text: String!, $after: String) {\n    search(text: $text, types: [PIN], first: 25, after: $after) {\n      edges {\n        cursor\n        node {\n          ... on Pin {\n            id\n            ...PinCard\n          }\n        }\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query People($offered: String!) {\n    user(username: $offered) {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n    users(first: 24) {\n      edges {\n        node {\n          id\n          username\n          fullName\n          avatar {\n            url\n          }\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query People($offered: String!) {\n    user(username: $offered) {\n      id\n      username\n      fullName\n      avatar {\n        url\n      }\n    }\n    users(first: 24) {\n      edges {\n        node {\n          id\n          username\n          fullName\n          avatar {\n            url\n          }\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation SignUp($input: SignUpInput!) {\n    signUp(input: $input) {\n      token\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation SignUp($input: SignUpInput!) {\n    signUp(input: $input) {\n      token\n      user {\n        id\n        username\n      }\n      errors {\n        message\n      }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;