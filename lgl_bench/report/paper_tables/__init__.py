"""The paper's tables again: every printed cell with our number beside it, and what is said of the difference."""
