"""Work over many episodes: fan-out, and the steps of ingestion that the asset graph calls."""
