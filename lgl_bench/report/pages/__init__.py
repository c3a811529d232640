"""What the templates of the pages are given, every word and drawing ready."""
