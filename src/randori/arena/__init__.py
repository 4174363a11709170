"""Measuring strength: matches now; tournaments, ratings and exams build on them."""
