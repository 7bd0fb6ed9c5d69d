"""Thousands of spoilt sources of every format, each read as an ingestion reads it."""
