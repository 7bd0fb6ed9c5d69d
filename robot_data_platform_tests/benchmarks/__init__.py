"""Side-by-side measurements of the reader, its floor and its peers; run by ``make bench``."""
