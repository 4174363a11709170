"""Run folders: configuration, checkpoints, replay shards and metrics that survive a kill."""
