"""One file per command of the lab; lab/pyproject.toml lists them as entry points."""
