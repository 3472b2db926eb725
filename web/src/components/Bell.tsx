// The link to the notifications, with the number of unread ones.
import { Link, useLocation } from "wouter-preact";
import { MOST, useNotified, useUnread } from "../feed/unread";

export function Bell() {
  const [path] = useLocation();
  useNotified(true);
  const unread = useUnread();
  const shown = unread < MOST ? String(unread) : `${MOST - 1}+`;
  return (
    <Link href="/notifications" class="bell" aria-current={path === "/notifications" ? "page" : undefined}>
      <svg viewBox="0 0 24 24" width={20} height={20} aria-hidden="true">
        <path d="M12 3a6 6 0 0 0-6 6v4l-2 4h16l-2-4V9a6 6 0 0 0-6-6zM10 19a2 2 0 0 0 4 0" />
      </svg>
      <span class="visually-hidden">Notifications</span>
      {unread > 0 && (
        <span class="count">
          {shown}
          <span class="visually-hidden"> unread</span>
        </span>
      )}
    </Link>
  );
}
