"""Split specs, assignments of episodes to splits, and immutable releases."""
