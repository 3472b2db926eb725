// The pictures that this page loads: only the gateway's own. Another host would learn who looks at
// its picture, and the page's content security policy forbids such pictures.

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

// The address to load, on the page's own origin; null for a picture of another host.
export function here(url: string, page: Location | URL = location): string | null {
  if (!URL.canParse(url, page.href)) return null;
  const { hostname, port, pathname, search } = new URL(url, page.href);
  const sameName = hostname === page.hostname || (LOOPBACK.has(hostname) && LOOPBACK.has(page.hostname));
  const ours = sameName && port === page.port && pathname.startsWith("/images/");
  return ours ? pathname + search : null;
}

// Height divided by width; 1 if the size is unknown.
export function ratioOf(image: { width: number | null; height: number | null } | null): number {
  if (!image?.width || !image.height) return 1;
  return Math.min(Math.max(image.height / image.width, 0.4), 2.2);
}
