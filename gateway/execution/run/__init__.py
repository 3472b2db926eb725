"""Executes one request level by level: resolves fields, completes values, writes errors."""
