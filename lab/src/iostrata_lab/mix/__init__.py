"""Two programs alone and together: how much each slows the other down (S4.4)."""
