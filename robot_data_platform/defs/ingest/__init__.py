"""From an upload to published rows and their quality."""
