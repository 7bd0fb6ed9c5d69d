"""Readers of recorded episodes, one per file format, behind one protocol."""
