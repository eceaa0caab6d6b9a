"""Recording a command: a collector, the agent in every JVM the command starts, the run's end."""
