"""One request's execution, level by level: resolving fields, completing values, errors."""
