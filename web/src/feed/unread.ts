// The number of unread notifications, which the gateway tells as they come.
import { useQuery } from "@apollo/client/react";
import { useEffect } from "preact/hooks";
import { client } from "../api/client";
import { keepUnread, UnreadCount } from "../changes/notifications";
import { graphql } from "../gen";

const Notified = graphql(`
  subscription Notified {
    notified {
      unreadCount
    }
  }
`);

const AGAIN = 30_000; // milliseconds until a stream that the gateway ended begins again
export const MOST = 100; // the gateway counts no further

// Keeps the number in the cache up to date while the component is shown.
export function useNotified(signedIn: boolean): void {
  useEffect(() => {
    if (!signedIn) return;
    let timer = 0;
    const begin = () => client.subscribe({ query: Notified }).subscribe({ next, complete: again, error: again });
    const next = ({ data }: { data?: { notified: { unreadCount: number } | null } | null | undefined }) => {
      if (data?.notified) keepUnread(data.notified.unreadCount);
    };
    const again = () => {
      timer = window.setTimeout(() => {
        events = begin();
      }, AGAIN);
    };
    let events = begin();
    return () => {
      clearTimeout(timer);
      events.unsubscribe();
    };
  }, [signedIn]);
}

// The number in the cache: 0 until the gateway has told it.
export function useUnread(): number {
  const { data } = useQuery(UnreadCount, { fetchPolicy: "cache-only" });
  return data?.unreadNotificationCount ?? 0;
}
