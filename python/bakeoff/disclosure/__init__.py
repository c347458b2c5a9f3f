"""What a paper tells of its machines and servers: given by its author, or collected."""
