"""What calls cause: trees of calls, the critical path, and the functions that hold a run back."""
