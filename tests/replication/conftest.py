from tests.pairs import kept_pairs, pairs

__all__ = ["kept_pairs", "pairs"]
