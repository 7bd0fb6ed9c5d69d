"""Bridges to other tools; none yet."""
