"""Coroutines of resolvers, driven without an asyncio.Task each."""
