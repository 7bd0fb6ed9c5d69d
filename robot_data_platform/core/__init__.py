"""Pure domain values and functions: no I/O, no clock, no environment."""
