"""Test kit that ships: small lakes and uploads with a model of what they hold."""
