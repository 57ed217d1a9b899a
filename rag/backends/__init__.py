"""Language models behind one small protocol: in process (llama.cpp), a server, or none."""

from rag.backends.base import Backend, open_backend

__all__ = ["Backend", "open_backend"]
