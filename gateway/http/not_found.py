"""The answer at an address where there is nothing: a page with a way back for browsers, JSON for
all others."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

MESSAGE = "there is nothing at this address"
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "vary": "Accept",
    "x-content-type-options": "nosniff",
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not found · Pinway</title>
<style>
  :root { background: Canvas; color: CanvasText; color-scheme: light dark; }
  body { font: 1.1rem/1.5 system-ui, sans-serif; margin: 20vh auto 0; max-width: 32rem;
    padding: 0 1.5rem; }
  a { display: inline-block; padding: .75rem 0; }
</style>
<main>
  <h1>Nothing here</h1>
  <p>There is no page at this address. It may be mistyped, or what was here was removed.</p>
  <a href="/">Go to the start page</a>
</main>
"""


async def missing(request: Request, error: Exception) -> Response:
    """Answer without a word of the request: its address may be anybody's text."""
    if request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(_PAGE, 404, _HEADERS)
    problem = {"message": MESSAGE, "extensions": {"code": "NOT_FOUND"}}
    return JSONResponse({"errors": [problem]}, 404, _HEADERS)
