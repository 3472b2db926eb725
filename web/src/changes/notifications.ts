// Marks notifications as read, and keeps the number of those that are unread.
import { defineChange } from "../api/change";
import { client } from "../api/client";
import { graphql } from "../gen";
import type { MarkNotificationsReadMutation } from "../gen/graphql";

export const UnreadCount = graphql(`
  query UnreadCount {
    unreadNotificationCount
  }
`);

const MarkNotificationsRead = graphql(`
  mutation MarkNotificationsRead($input: MarkNotificationsReadInput!) {
    markNotificationsRead(input: $input) {
      unreadNotificationCount
      errors {
        message
      }
    }
  }
`);

export function keepUnread(unreadNotificationCount: number): void {
  client.cache.writeQuery({ query: UnreadCount, data: { unreadNotificationCount } });
}

interface UpTo {
  upTo: string;
}

export const markNotificationsRead = defineChange<UpTo, MarkNotificationsReadMutation>({
  name: "markNotificationsRead",
  document: MarkNotificationsRead,
  payload: (data) => data.markNotificationsRead,
  update: (cache, data) => {
    const left = data.markNotificationsRead?.unreadNotificationCount;
    if (left != null) cache.writeQuery({ query: UnreadCount, data: { unreadNotificationCount: left } });
  },
});
