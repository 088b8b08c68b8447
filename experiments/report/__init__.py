"""The paper's results, reproduced: which runs there are, how to make them, and the report of what they gave."""
