"""Streams of results to clients: GraphQL over WebSocket, and server-sent events."""
