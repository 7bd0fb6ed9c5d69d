"""The rules, as pure functions from measured arrays to findings; each is named by what holds."""
