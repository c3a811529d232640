"""A submitted run as one file: packing, opening and loading it."""
