"""Operators' tasks on pairs of MariaDB servers: observers, promotions, restarts and live moves."""
