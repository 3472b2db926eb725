"""The mutations, with a file for each domain. Each checks the viewer, writes, and returns a
payload."""
