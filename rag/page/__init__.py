"""What the page shows: HTML made from rulings and clauses. Every text is escaped; clause text is Markdown without HTML."""
