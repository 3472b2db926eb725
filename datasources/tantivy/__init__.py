"""Full-text search with tantivy, a library that keeps its index in files."""

from datasources.tantivy.store import TantivySearch

__all__ = ["TantivySearch"]
