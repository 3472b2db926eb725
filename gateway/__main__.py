"""`python -m gateway` is `pinway`."""

from gateway.cli import main

main()
