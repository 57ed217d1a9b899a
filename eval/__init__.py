"""Measure what the product does: floors and calibrations, speed and memory; gold rulings and metrics come in step 4."""
