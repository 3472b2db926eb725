# Compiled from Python without C types.
