"""The report: a static site, figures for papers, and small tables for the terminal, made from leaderboard rows."""
