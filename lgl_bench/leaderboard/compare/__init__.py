"""Setting rows and boards against each other."""
