"""Operators' work on MariaDB servers: promotions, slaves, copies. Gateways don't use it."""
