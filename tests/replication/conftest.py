from tests.pairs import pairs

__all__ = ["pairs"]
