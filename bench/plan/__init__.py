"""The constants of `pinway plan` that no other benchmark measures. See __main__."""
