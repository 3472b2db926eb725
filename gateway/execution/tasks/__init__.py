"""Runs the coroutines of resolvers without an asyncio.Task for each, and the deadlines of
requests."""
