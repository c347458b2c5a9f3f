"""What reads a machine, a process or an exporter."""
