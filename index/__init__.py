"""Law books: text files become clauses, clauses become passages, passages become a searchable index.

``read_book`` -> ``build_index`` / ``open_index`` -> ``search``. Nothing here knows about rulings or language models.
"""
