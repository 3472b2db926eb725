"""GraphQL over HTTP: the endpoint, who asks, and the pages and files beside it."""
