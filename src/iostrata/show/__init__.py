"""What people read: units, escapes, and the summary of a run."""
