"""From published rows to splits, releases and models."""
