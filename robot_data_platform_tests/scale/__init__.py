"""`make bench-scale`: lakes of up to a million episodes, and what each command takes on them."""
