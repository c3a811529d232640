"""Running a submitted method again in a sandbox, and comparing."""
