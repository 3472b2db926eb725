"""The stock contender of the benchmark: strawberry behind the gateway's endpoint and stores."""

from pathlib import Path
from unittest.mock import patch

import httpx
import pytest

from bench.execution.apps import real
from gateway.app import create_site
from gateway.settings import read_settings
from schema import schema
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio


async def test_stock_executes_the_gateways_own_schema_behind_its_endpoint(tmp_path: Path) -> None:
    directives = schema._schema.directives
    with patch.object(schema._schema, "directives", directives):
        real.without_parts()
        async with embedded_gateway(tmp_path) as gateway:
            text = "{ __typename viewer { id } }"
            document = await gateway.executor.documents.read(text)
            settings = read_settings(options={"data_dir": tmp_path})
            site = create_site(settings, gateway.runtime, real.StockExecutor(document))
            transport = httpx.ASGITransport(site.public)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                answer = await client.post("/graphql", json={"query": text})
    assert answer.json() == {"data": {"__typename": "Query", "viewer": None}}
