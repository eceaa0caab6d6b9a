"""Replays a recorded job as it would be with another cluster or other settings."""
