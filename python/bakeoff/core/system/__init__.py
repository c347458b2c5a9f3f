"""The operating system as every layer meets it: files, folders, ssh, mounts, links."""
