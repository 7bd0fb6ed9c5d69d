"""Robot-learning data as versioned Lance tables, from raw upload to trained model."""

__version__ = "0.1.0"
