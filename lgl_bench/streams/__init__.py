"""The stream layer: graphs that grow year by year, in memory and on disk."""
