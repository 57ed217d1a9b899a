"""Answers of peers on the same book with the same models: stock LlamaIndex and Haystack pipelines, the model without a book.

Run ``python -m eval.peers`` (``pip install ".[peers]"``): 30 fixed dev questions (``peers.yaml``), each answer kept, so that a
run that was cut short goes on. A peer cites the ids in its text, or, where it names none, those of its two best sources.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.progress import track

from eval.answers import Answer, Answered
from eval.asking import ask_all
from eval.gold import Gold, read_gold
from eval.kept import keep, kept
from eval.report import Report, print_report, write_report
from eval.run import answer_lines
from index.books import DEFAULT_BOOK, read_book
from index.clause_id import find_clause_ids
from index.embedder import SentenceTransformerEmbedder
from index.errors import ContractError
from index.hashing import sha256_value
from rag.desk import open_desk
from rag.models import embedder_folder, find_gguf

QUESTIONS = Path(__file__).resolve().parent / "peers.yaml"
SOURCES = 2
"""Sources that stand for the citations of a peer that names none (LlamaIndex's own default of clauses retrieved)."""
CONTEXT = 4096
"""Tokens that a peer's model may see."""
MAX_TOKENS = 256
Peer = Callable[[str], tuple[str, Sequence[str]]]
"""Question -> text, and ids of the sources, best first."""


def llama_index(model: Path, embedder: Path) -> Peer:
    """LlamaIndex: `VectorStoreIndex` over the clauses, its default query engine."""
    from llama_index.core import Settings, VectorStoreIndex
    from llama_index.core.schema import TextNode
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding
    from llama_index.llms.llama_cpp import LlamaCPP

    Settings.embed_model = HuggingFaceEmbedding(
        model_name=str(embedder), query_instruction="query: ", text_instruction="passage: ", device="cpu"
    )
    Settings.llm = LlamaCPP(
        model_path=str(model), temperature=0.0, max_new_tokens=MAX_TOKENS, context_window=CONTEXT, verbose=False
    )
    nodes = [TextNode(text=text, metadata={"clause": clause}) for clause, text in _clauses()]
    engine = VectorStoreIndex(nodes).as_query_engine()

    def answer(question: str) -> tuple[str, Sequence[str]]:
        response = engine.query(question)
        return str(response), [node.metadata["clause"] for node in response.source_nodes]

    return answer


def haystack(model: Path, embedder: Path) -> Peer:
    """Haystack: in-memory store, embedding retriever, prompt builder, llama.cpp chat generator, as in its first tutorial."""
    from haystack import Document, Pipeline
    from haystack.components.builders import ChatPromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.components.embedders.sentence_transformers import (
        SentenceTransformersDocumentEmbedder,
        SentenceTransformersTextEmbedder,
    )
    from haystack_integrations.components.generators.llama_cpp import LlamaCppChatGenerator

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    documents = SentenceTransformersDocumentEmbedder(model=str(embedder), prefix="passage: ", progress_bar=False)
    made = [Document(content=text, meta={"clause": clause}) for clause, text in _clauses()]
    store.write_documents(documents.run(made)["documents"])
    template = (
        "Given the following information, answer the question.\n\nContext:\n"
        "{% for document in documents %}{{ document.content }}\n{% endfor %}\nQuestion: {{ question }}\nAnswer:"
    )
    pipeline = Pipeline()
    pipeline.add_component("embedder", SentenceTransformersTextEmbedder(model=str(embedder), prefix="query: "))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=5))
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(template)], required_variables="*"))
    generation = {"max_tokens": MAX_TOKENS, "temperature": 0.0}
    pipeline.add_component("llm", LlamaCppChatGenerator(str(model), n_ctx=CONTEXT, generation_kwargs=generation))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    pipeline.connect("retriever", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")

    def answer(question: str) -> tuple[str, Sequence[str]]:
        asked: dict[str, Any] = {"embedder": {"text": question}, "prompt": {"question": question}}
        found = pipeline.run(asked, include_outputs_from={"retriever"})
        return found["llm"]["replies"][0].text, [one.meta["clause"] for one in found["retriever"]["documents"]]

    return answer


def no_book(model: Path, _: Path) -> Peer:
    """The model alone: what it knows of the Laws."""
    from llama_cpp import Llama

    llm = Llama(str(model), n_ctx=CONTEXT, verbose=False)
    system = "You are a bridge tournament director. Rule by the Laws of Duplicate Bridge of 2017 and name the law numbers."

    def answer(question: str) -> tuple[str, Sequence[str]]:
        messages: Any = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        reply: Any = llm.create_chat_completion(messages, max_tokens=MAX_TOKENS, temperature=0.0)
        return str(reply["choices"][0]["message"]["content"]), []

    return answer


PEERS = {"LlamaIndex": llama_index, "Haystack": haystack, "the model without a book": no_book}


def _clauses() -> Iterator[tuple[str, str]]:
    book = read_book(DEFAULT_BOOK)
    for clause in book.clauses:
        if clause.text:
            yield str(clause.id), f"{book.heading_path(clause)}\n{clause.text}"


def peer_questions() -> tuple[Gold, ...]:
    """The fixed questions. Raises `ContractError` when the list is damaged."""
    gold = {one.id: one for one in read_gold()}
    try:
        return tuple(gold[name] for name in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise ContractError(f"{QUESTIONS.name} is damaged ({error}); restore the file.") from error


def ask_peer(name: str, gold: Sequence[Gold], model: Path, embedder: Path, base_hash: str) -> tuple[Answered, ...]:
    """A peer's answers; the peer is loaded only when one is not kept yet."""
    peer: Peer | None = None
    found = []
    for one in track(gold, name):
        key = sha256_value([name, one.question, model.name, base_hash])
        answer = kept(key)
        if answer is None:
            peer = peer or PEERS[name](model, embedder)
            started = time.perf_counter()
            text, sources = peer(one.question)
            answer = _as_answer(text, sources, 1000 * (time.perf_counter() - started))
            keep(key, answer)
        found.append(Answered(one, answer))
    return tuple(found)


def _as_answer(text: str, sources: Sequence[str], milliseconds: float) -> Answer:
    cites = [str(clause) for clause in find_clause_ids(text)] or list(sources[:SOURCES])
    return {
        "edition": "2017",
        "status": "ruling",
        "answer": text,
        "sentences": [],
        "cites": cites,
        "laws": [{"id": clause} for clause in sources],
        "ask": [],
        "procedure": None,
        "then": [],
        "timings": {"first_token_ms": milliseconds, "total_ms": milliseconds},
    }


def main() -> None:
    """Ask all, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llm", default="llm", help="GGUF file or role (default: the product's model)")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "reports" / "peers")
    parser.add_argument("--peer", action="append", choices=PEERS, help="only this one (may be given several times)")
    options = parser.parse_args()
    chosen = options.peer or list(PEERS)
    model, gold = find_gguf(options.llm), peer_questions()
    with tempfile.TemporaryDirectory() as place:
        embedder = SentenceTransformerEmbedder(embedder_folder())
        embedder.save(Path(place))
        lines = []
        for name in chosen:
            lines += answer_lines(name, ask_peer(name, gold, model, Path(place), embedder.hash))
    for llm in (options.llm, "none"):
        desk = open_desk(llm, print)
        lines += answer_lines(f"Tablelaw, {desk.backend.name if desk.backend else 'no model'}", ask_all(desk, gold))
    notes = tuple(f"Not run: {name}." for name in PEERS if name not in chosen)
    report = Report("Peers on 30 dev questions", tuple(lines), notes=notes)
    print_report(report)
    write_report(report, options.out)


if __name__ == "__main__":
    main()
