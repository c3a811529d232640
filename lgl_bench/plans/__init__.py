"""Plans: from a suite and a budget to the fits, answers and rows it asks for."""
