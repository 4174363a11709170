"""Everything that picks a move, behind one spec parser and one registry."""
