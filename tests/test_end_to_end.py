"""The real thing: the real embedder, a real FAISS index of the bundled book, the real 0.5B model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from index.books import DEFAULT_BOOK, read_book
from index.clause_id import ClauseId
from index.embedder import Embedder
from index.search import search
from index.store import SearchIndex, open_index
from rag.backends.llamacpp import LlamaBackend
from rag.desk import Ask, Desk, answer, answer_whole
from rag.models import LANGUAGE_MODELS, find_gguf

pytestmark = pytest.mark.models

LEAD_OUT_OF_TURN = "defender led out of turn, what are declarer's options?"


@pytest.fixture
def real_index(in_real_home: Path, real_embedder: Embedder) -> SearchIndex:
    return open_index(read_book(DEFAULT_BOOK), real_embedder)


@pytest.mark.parametrize(
    ("question", "law"),
    [
        (LEAD_OUT_OF_TURN, 56),
        ("RHO bid 1H over my 1S and wants to change it to 2H", 27),
        ("Declarer found out at trick 10 that a defender had revoked", 64),
        ("Соперник справа заявил недостаточно высоко, я не хочу принимать", 27),
        ("zahod ne v ochered, chto delat", 53),
    ],
)
def test_the_deciding_law_is_among_the_first_five(real_index: SearchIndex, question: str, law: int) -> None:
    desk = Desk(real_index.embedder, None)
    ruling = answer_whole(desk, Ask(question)).ruling
    assert law in [ClauseId(card.id).law for card in ruling.laws]


def test_search_and_faiss_agree_with_brute_force(real_index: SearchIndex) -> None:
    query = real_index.embedder.encode([LEAD_OUT_OF_TURN], "query")[0]
    rows = real_index.vectors.reconstruct_n(0, real_index.vectors.ntotal)
    best = real_index.book.clauses[real_index.row_clause[int((rows @ query).argmax())]]
    assert best.id in [hit.clause.id for hit in search(real_index, LEAD_OUT_OF_TURN)]


def test_the_real_model_answers_with_clauses_that_were_put_before_it(
    real_index: SearchIndex, small_model: LlamaBackend
) -> None:
    desk = Desk(real_index.embedder, small_model)
    updates = list(answer(desk, Ask(LEAD_OUT_OF_TURN, facts={"irregularity": "none"})))
    first, last = updates[0].ruling, updates[-1].ruling
    assert first.laws, "law cards come first"
    assert not first.sentences
    assert last.status in ("ruling", "quote")
    assert last.timings.model_first_token_ms is not None, "the model was asked"
    cards = {card.id: card.text for card in last.laws}
    for sentence in last.sentences:
        assert set(sentence.cites) <= set(cards)
        assert sentence.text in " ".join(cards[sentence.cites[0]].split())


@pytest.mark.parametrize("question", ["How do I cook rice so that it does not stick?", "Как ходит конь в шахматах?"])
def test_what_is_not_about_bridge_is_not_covered(real_index: SearchIndex, question: str) -> None:
    ruling = answer_whole(Desk(real_index.embedder, None), Ask(question)).ruling
    assert ruling.status == "not-covered"
    assert ruling.sentences == ()
    assert "2017" in ruling.answer


def test_a_truncated_gguf_gives_one_sentence(tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with LANGUAGE_MODELS["small"].path.open("rb") as whole:
        cut.write_bytes(whole.read(8 << 20))
    done = _tablelaw("ask", LEAD_OUT_OF_TURN, "--llm", str(cut))
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stderr.startswith(str(cut))
    assert "--llm none" in done.stderr


def test_the_fetched_models_have_the_hashes_of_the_catalogue() -> None:
    assert find_gguf("small") == LANGUAGE_MODELS["small"].path


def test_ask_on_the_command_line_gives_the_contract(in_real_home: Path) -> None:
    done = _tablelaw("ask", LEAD_OUT_OF_TURN, "--llm", "none", "--json", "--fact", "irregularity=none")
    assert done.returncode == 0, done.stderr
    answer_json = json.loads(done.stdout)
    assert answer_json["status"] == "quote"
    assert {law["id"] for law in answer_json["laws"]} >= set(answer_json["cites"])


def test_a_story_is_ruled_once_what_it_lacks_is_given(in_real_home: Path, real_index: SearchIndex) -> None:
    desk = Desk(real_index.embedder, None)
    facts = {"irregularity": "defender-lead-out-of-turn"}
    for _ in range(8):
        ruling = answer_whole(desk, Ask(LEAD_OUT_OF_TURN, facts=facts)).ruling
        if ruling.status != "ask":
            break
        facts[ruling.ask[0].fact] = ruling.ask[0].options[0]
    assert ruling.status in ("ruling", "judgement")
    assert {ClauseId(clause).law for clause in ruling.cites} & {47, 53, 54, 55, 56}
    assert set(ruling.cites) <= {law.id for law in ruling.laws}


def _tablelaw(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "cli", *arguments], capture_output=True, text=True, timeout=300, check=False)
