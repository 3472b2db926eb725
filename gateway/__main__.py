"""The `pinway` command; `python -m gateway` is the same."""

from gateway.interrupted import stopping


def main() -> None:
    """Run the command line. Ctrl-C ends it with one line even during the imports."""
    with stopping():
        from gateway.cli import main as command

        command()


if __name__ == "__main__":
    main()
