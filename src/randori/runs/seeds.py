"""What a seed may be: a whole number from 0 to the last that SQLite holds."""

LAST_SEED = 2**63 - 1
