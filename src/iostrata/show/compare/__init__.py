"""Two groups of runs side by side: what changed, against the noise of their repeats."""
