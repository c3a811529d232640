"""The leaderboard: rows with a settled meaning, read with care, and statistics that say tie when it is one."""
