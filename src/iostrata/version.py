"""The version of iostrata and of iostrata-lab. docs/release.md says where else it stands."""

__version__ = "0.1.0"
