"""What is Hadoop's own about the lab: its configuration, its launchers, when it is ready."""
