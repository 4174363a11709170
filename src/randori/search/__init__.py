"""Search over any game and any evaluator; it knows no concrete game and no network library."""
