"""The mutations, a file a domain: each checks the viewer, writes, and answers with a payload."""
