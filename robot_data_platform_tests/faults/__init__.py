"""Machines that die, stores that fail and disks that fill up, while an upload is ingested."""
