"""Sample uploads: rendered robot episodes in three layouts, and the script that makes them."""
