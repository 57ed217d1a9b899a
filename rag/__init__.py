"""From a question to a checked, cited ruling: ``desk.py`` is the front desk, read from there downwards."""
