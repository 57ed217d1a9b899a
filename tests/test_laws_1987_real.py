"""The Russian texts of 1987 as they are: every clause that the list names, whole and clean."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import lru_cache

import pytest

from index.clause_id import parse_clause_id
from index.readers.commentary import read_commentary_dc4
from index.readers.contents1987 import is_contents
from index.readers.laws1987 import read_laws_1987
from index.readers.pages1987 import join_pages, split_pages
from index.readers.reading import Reading, SourceFile
from index.readers.russian import Words, fold, in_dictionary
from index.readers.translit import from_translit
from index.types import Clause
from tests.conftest import SHARED, needs_shared

pytestmark = needs_shared

SEEDS = SHARED / "seeds"
CYRILLIC, MORE, LATIN, COMMENTARY = "000", "002", "003", "004"
FILES = {
    CYRILLIC: "laws-1987-ru-a.txt",
    MORE: "laws-1987-ru-b.txt",
    LATIN: "laws-1987-translit.txt",
    COMMENTARY: "commentary-dc4-ru.txt",
}
LAWS = (CYRILLIC, MORE, LATIN)
ALONE_OR_TOGETHER = [LAWS, (CYRILLIC,), (MORE,), (LATIN,), (LATIN, MORE), (COMMENTARY,)]

# Abbreviations of players and organisers, compass points, letters of clauses and their numbers, English terms in brackets.
ALLOWED_LATIN = re.compile(r"LHO|RHO|MP|S\.O\.|\b[NSEW]\b|\b\d{0,2}[A-H]\d{0,2}[A-H]?\d?\b|\([a-zA-Z][a-zA-Z. -]+\)")
REMNANT = re.compile(
    r"\?{2,}|-{2,}|={2,}|_{2,}|\(DC4\)|(?:^|\s)- \d+|page ?\d|[^\W\d_]-\s|\s-[^\W\d_]|[|®\ue000-\uf8ff]|  |\.{3,}"
)


def source(seed: str) -> SourceFile:
    return SourceFile(FILES[seed], ((SEEDS / FILES[seed]).read_text(encoding="utf-8"),))


@lru_cache
def read(*seeds: str) -> Reading:
    reader = read_commentary_dc4 if seeds == (COMMENTARY,) else read_laws_1987
    return reader([source(seed) for seed in seeds])


def by_id(*seeds: str) -> dict[str, Clause]:
    return {str(clause.id): clause for clause in read(*seeds).clauses}


def listed(*seeds: str) -> dict[str, set[str]]:
    """Clause -> what the list says of it in these texts: full, part, contents."""
    found: dict[str, set[str]] = {}
    with (SEEDS / "clauses.tsv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            if row["seed"] in seeds:
                found.setdefault(row["clause"], set()).add(row["status"])
    return found


@pytest.mark.parametrize("seeds", ALONE_OR_TOGETHER, ids="+".join)
def test_the_clauses_are_those_of_the_list_and_complete_where_it_says_full(seeds: tuple[str, ...]) -> None:
    wanted = {name: "full" in said for name, said in listed(*seeds).items() if said != {"contents"}}
    assert {name: clause.complete for name, clause in by_id(*seeds).items()} == wanted
    assert read(*seeds).unassigned == ()


@pytest.mark.parametrize("seeds", ALONE_OR_TOGETHER, ids="+".join)
def test_texts_and_headings_are_clean(seeds: tuple[str, ...]) -> None:
    for clause in read(*seeds).clauses:
        for text in (clause.heading, clause.text):
            assert not REMNANT.search(text), (str(clause.id), text)
            assert not re.search(r"[A-Za-z]", ALLOWED_LATIN.sub("", text)), (str(clause.id), text)
            assert not re.search(r"\(\*+\)", text) or clause.id.is_footnote, (str(clause.id), text)
            assert not re.search(r"[а-яё][,;:.!?][а-яё]|\s[,;.]|[а-яё]\(", text.replace("п.р.", "")), (str(clause.id), text)
        assert clause.heading or clause.text or not clause.complete, str(clause.id)


def letters(text: str) -> str:
    return "".join(re.findall(r"[а-я]", fold(text)))


@pytest.mark.parametrize("seed", FILES)
def test_not_a_letter_is_lost(seed: str) -> None:
    """All Cyrillic letters of a text, contents apart, are in its clauses, in what was skipped, or in the word before a law."""
    text = source(seed).text
    pages = [page for page in split_pages(text) if not is_contents(page.text)] if seed != COMMENTARY else []
    whole = " ".join(page.text for page in pages) or text
    if seed == LATIN:
        whole = " ".join(from_translit(re.sub(r"-{4,}", " ", page.text), Words()) for page in pages)
    reading = read(seed)
    skipped = [text for text in reading.skipped if not is_contents(text)]
    kept = Counter(letters(" ".join([*(f"{c.heading} {c.text}" for c in reading.clauses), *skipped])))
    lost = Counter(letters(re.sub(r"(?m)(?<![а-я(] )(?<!\w)Правило (?=\d+\.)", "", whole))) - kept
    assert sum(lost.values()) <= (len("ГлаваI")), lost


@pytest.mark.parametrize("seed", FILES)
def test_each_text_stands_in_its_source_in_one_piece(seed: str) -> None:
    whole = source(seed).text
    if seed == LATIN:
        (run,) = join_pages(split_pages(whole))
        whole = " ".join(from_translit(text, Words()) for text in (run.text, *(note.text for note in run.notes)))
    elif seed != COMMENTARY:
        whole = " ".join(page.text for page in split_pages(whole))
    apart = {str(c.id) for c in read(seed).clauses for text in (c.heading, c.text) if letters(text) not in letters(whole)}
    # A term whose second line stands in its meaning; a comment with two stray lines.
    assert apart <= {"Def:average", "DC4:25.1"}


def test_the_same_clause_of_two_texts_reads_the_same() -> None:
    one, other = by_id(CYRILLIC), by_id(LATIN)
    both = [name for name in one if name in other and one[name].complete and other[name].complete]
    assert len(both) >= 38
    different = {}
    for name in both:
        texts = [fold(f"{c.heading}\n{c.text}") for c in (one[name], other[name])]
        if texts[0] != texts[1]:
            different[name] = texts
    assert different == {}


def test_every_word_is_a_word_or_stands_so_in_the_text() -> None:
    """Joined words are in the dictionary, or the text has them in one piece."""
    printed = Words(
        [" ".join(line.split()[1:-1]) for seed in (CYRILLIC, MORE, COMMENTARY) for line in source(seed).text.split("\n")]
    )
    printed_latin = Words([from_translit(re.sub(r"\S+- \S+", " ", source(LATIN).text), Words())])
    odd = set()
    for clause in (*read(*LAWS).clauses, *read(COMMENTARY).clauses):
        if clause.complete:
            odd |= {
                word
                for word in re.findall(r"[а-яё]+", f"{clause.heading} {clause.text}".lower())
                if not (in_dictionary(word) or printed.in_book(word) or printed_latin.in_book(word))
            }
    # Terms of bridge that stand in the texts once, split or at the end of a line.
    assert odd <= {"алерт", "запасовал"}, odd


def test_the_order_of_the_files_does_not_matter() -> None:
    assert read(LATIN, CYRILLIC, MORE).clauses == read(MORE, LATIN, CYRILLIC).clauses == read(*LAWS).clauses


def test_of_copies_one_is_kept_and_named() -> None:
    twice = {str(clause) for clause in read(*LAWS).twice}
    copies = {name for name in by_id(CYRILLIC) if name in by_id(LATIN)}
    assert twice == copies


def test_ids_are_read_as_printed_and_come_in_the_order_of_the_list() -> None:
    numbered = [name for name in listed(*LAWS) if name[0].isdigit()]
    numbered.sort(key=lambda name: int(re.match(r"\d+", name)[0]))  # the list puts a law's contents rows among the others
    assert [str(parse_clause_id(name)) for name in listed(*FILES)] == list(listed(*FILES))
    found = [str(clause.id) for clause in read(*LAWS).clauses if clause.id.law]
    assert found == [name for name in numbered if name in set(found)]
    assert [str(clause.id) for clause in read(COMMENTARY).clauses] == list(listed(COMMENTARY))


@pytest.mark.parametrize(
    ("seeds", "clause", "refs"),
    [
        (LAWS, "25B2(C)", ["26", "25B2(B)(1)", "25B2(B)(2)"]),
        (LAWS, "31A", ["31A2(B)"]),
        (LAWS, "20C2", ["20B#fn", "41B", "41C"]),
        (LAWS, "20F2#fn", ["20F1#fn"]),
        (LAWS, "29A", ["30", "31", "32", "29B"]),
        (LAWS, "43B1", ["90", "43A1", "43A2"]),
        ((COMMENTARY,), "DC4:0", ["40B", "75A", "73D"]),
        ((COMMENTARY,), "DC4:24.6", ["24", "50E"]),
        ((COMMENTARY,), "DC4:25.1", ["25"]),
    ],
)
def test_references_are_those_that_a_reader_finds(seeds: tuple[str, ...], clause: str, refs: list[str]) -> None:
    assert [str(ref) for ref in by_id(*seeds)[clause].see] == refs
