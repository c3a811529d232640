"""Statistics of comparing: pure functions of numbers, each with a hand-worked test."""
