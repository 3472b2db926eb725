"""Finds the document of a request that names a document by its id or its hash.

- `extensions.persistedQuery.sha256Hash`: Apollo's protocol, which urql speaks too. The hash is the
  id of a trusted document, or the hash of a document that a client registered before.
- `documentId` (GraphQL over HTTP, appendix on persisted documents; `sha256:` and the hash, or an id
  of the client's tool) and `doc_id` (Relay): the id of a trusted document.

The messages and codes are the ones of Apollo Server and Apollo Router: clients act on them.
"""

from collections.abc import Sequence
from pathlib import Path

from gateway.documents.automatic import AutomaticDocuments, digest_of
from gateway.documents.trusted import TrustedDocuments
from gateway.http.requests import MOST_SHOWN, Refused, RequestParameters
from gateway.http.web_client import MANIFEST
from gateway.settings import Settings
from gateway.settings.profiles import PUBLIC


class Unpersisted(Refused):
    """The document can't be found by its id, or it is not trusted. The status is the one of an
    operation that was refused before it ran."""

    def __init__(self, message: str, code: str) -> None:
        Refused.__init__(self, 400, message, code)


def not_found() -> Unpersisted:
    """The hash is unknown: the client sends the document with the hash."""
    return Unpersisted("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")


def not_supported() -> Unpersisted:
    """The gateway keeps no documents: the client sends documents alone from now on."""
    return Unpersisted("PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED")


class PersistedDocuments:
    """The trusted documents, and the documents that clients registered."""

    def __init__(
        self,
        trusted: TrustedDocuments,
        *,
        automatic: int = 0,
        trusted_only: bool = False,
        max_length: int = PUBLIC.query_length,
    ) -> None:
        """`automatic` is the maximum number of documents that clients may register; 0 switches the
        registration off. `trusted_only` refuses every document that is not trusted, and nothing is
        registered. A document of more than `max_length` characters is refused when it is read, so
        its hash is not computed: that takes milliseconds for a large body."""
        self.trusted, self._only, self._max_length = trusted, trusted_only, max_length
        self.automatic = AutomaticDocuments(automatic) if automatic and not trusted_only else None

    def text(self, operation: RequestParameters) -> str:
        """The text of the request's document. Raises Refused."""
        query, digest = operation.query, operation.digest
        if query is None:
            return self._found(operation.id, digest)
        if self._only and not self.trusted.has(query):
            raise Unpersisted(
                "This gateway runs trusted documents only, and this document is not among them.",
                "QUERY_NOT_IN_SAFELIST",
            )
        if digest is None or len(query) > self._max_length or self.trusted.text(digest) == query:
            return query
        if digest_of(query) != digest:
            raise Refused(400, "provided sha does not match query")
        return query

    def keep(self, operation: RequestParameters) -> None:
        """Register the document of a request, which was valid, under the hash that the request has
        beside it."""
        query, digest = operation.query, operation.digest
        if self.automatic is None or query is None or digest is None:
            return
        if self.trusted.text(digest) is None:
            self.automatic.add(digest, query)

    def _found(self, id_: str | None, digest: str | None) -> str:
        trusted, automatic = self.trusted, self.automatic
        name = digest if id_ is None else id_
        assert name is not None
        bare = name.removeprefix("sha256:")
        text = trusted.text(name) or trusted.text(bare)
        if text is None and automatic is not None:
            text = automatic.text(bare)
        if text is not None:
            return text
        if self._only:
            raise Unpersisted(
                f"This gateway runs trusted documents only, and {name[:MOST_SHOWN]!r} is not the id"
                " of any.",
                "PERSISTED_QUERY_NOT_IN_LIST",
            )
        raise not_found() if automatic is not None or len(trusted) else not_supported()


def manifests(settings: Settings) -> Sequence[Path]:
    """The manifests of trusted documents: the settings' manifests, and the web client's own if the
    gateway serves the client."""
    own = [MANIFEST] if settings.http.web and MANIFEST.exists() else []
    return [*map(Path, settings.http.trusted_documents), *own]


def persisted_documents(
    settings: Settings, trusted: TrustedDocuments | None = None
) -> PersistedDocuments:
    """The documents of a gateway with these settings. Raises ConfigError."""
    if trusted is None:
        trusted = TrustedDocuments(manifests(settings))
    return PersistedDocuments(
        trusted,
        automatic=settings.http.automatic_documents,
        trusted_only=settings.http.trusted_documents_only,
        max_length=settings.limits.numbers.query_length,
    )


def advice(settings: Settings, trusted: TrustedDocuments) -> str | None:
    """A line for the log at the start: the number of trusted documents if nothing else is run; in
    production, what to set so that nothing else is run. None if there is nothing to say."""
    if settings.http.trusted_documents_only:
        return f"running {len(trusted)} trusted documents, and no other document"
    if settings.production:
        return (
            "every client may send documents of its own; if all clients are yours, set "
            "http.trusted_documents and http.trusted_documents_only"
        )
    return None
