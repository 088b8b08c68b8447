"""One module for each section or page of the report."""
