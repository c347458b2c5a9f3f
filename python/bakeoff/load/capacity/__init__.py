"""The highest load that meets an objective: what an objective is, and how the load is searched. No I/O."""
