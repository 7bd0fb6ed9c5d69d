"""The command line `rdp`."""
