"""What the report shows, read and prepared for drawing."""
