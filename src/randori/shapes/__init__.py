"""Local shapes: what small rectangles of a board look like, and values that add up from them."""
