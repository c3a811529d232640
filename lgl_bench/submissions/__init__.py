"""From a run to the leaderboard: packing it, recomputing it without its code, and running it again from its code."""
