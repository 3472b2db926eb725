"""The line about trusted documents that the start logs."""

from pathlib import Path

from gateway.documents.trusted import TrustedDocuments
from gateway.http.persisted import advice
from gateway.settings import Auth, Http, Settings

SECRET = "s" * 32


def test_production_recommends_trusted_documents_until_nothing_else_is_run(tmp_path: Path) -> None:
    trusted = TrustedDocuments()
    assert advice(Settings(), trusted) is None
    production = Settings(production=True, auth=Auth(secret=SECRET))
    assert "trusted_documents_only" in (advice(production, trusted) or "")
    only = Settings(
        production=True, auth=Auth(secret=SECRET), http=Http(trusted_documents_only=True)
    )
    assert advice(only, trusted) == "running 0 trusted documents, and no other document"
