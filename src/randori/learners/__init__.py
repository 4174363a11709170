"""What learns: each learner composes self-play, replay, a network and a run folder."""
