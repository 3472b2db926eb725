"""The constants of `pinway plan` that no other benchmark measures; see __main__."""
