"""Full-text search in an OpenSearch cluster, which many hosts share."""

from datasources.opensearch.connection import Cluster
from datasources.opensearch.store import OpenSearch

__all__ = ["Cluster", "OpenSearch"]
