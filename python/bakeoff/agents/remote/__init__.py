"""An agent on another machine: what stands there, what stands here, and the JSON and bytes that cross between them."""
