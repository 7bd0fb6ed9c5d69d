"""What the platform tells of itself: alerts, structured logs and metrics."""
