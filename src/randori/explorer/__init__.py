"""The explorer: why an agent moves as it does, position by position, from a prompt."""
