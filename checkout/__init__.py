"""Makes the environment of a checkout, for bootstrap.py: in old syntax, without packages."""
