"""Every word sent to a model, and the grammars that bind it, as data: read by ``rag.prompt``."""
