"""The `pinway` command; `python -m pinway` is the same."""

from pinway.path import put_first


def main() -> None:
    """Run the command line."""
    put_first()
    from gateway.__main__ import main as command

    command()


if __name__ == "__main__":
    main()
