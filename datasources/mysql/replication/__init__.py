"""Operators' work on MariaDB servers: promotions, slaves, copies. A gateway needs none of it."""
