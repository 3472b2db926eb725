"""The executor: runs GraphQL operations with graphql-core's results, level by level. README.md is
the map."""
