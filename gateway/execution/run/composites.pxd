# Nothing in it is C's: it is compiled as it is.
