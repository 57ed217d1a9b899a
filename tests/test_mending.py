"""Lost ligatures, hyphens and signs: put back in invented sentences of any field, never in sound text."""

from __future__ import annotations

import json
import re

import pytest

from index.readers.ligatures import restore_ligatures
from index.readers.mending import join_broken_lines, mend, restore_hyphens
from tests.conftest import SHARED, needs_shared

WHOLE = [
    "The offender pays a different fee, which affects the staff and the officers.",
    "Shuffled sheets are stuffed into the office door; no efficient clerk is offended.",
    "An affair of the sheriff's staff, though difficult, offers sufficient comfort to the offended offspring.",
    "Offensive coffee baffles us. Effective effort differs from traffic on the cliff.",
]
WITH_FI_AND_FL = [
    "The first officer confirmed the final figures in a brief and flexible affidavit of five leaflets.",
    "Conflicts of influence are defined and classified; the profit is reflected in the file.",
    "A flawless definition specifies what the official finds satisfactory in the inflated fees.",
]
SOUND = [
    "A redeal is led by declarer; E following, the re-deal of A or B applies.",
    "Partscore and notrump overtricks are matchpointed at the table.",
    "An heir at law, an oil man, a one-off, a use and a European all rest in a ring.",
    "Kooijman, Di Sacco and the LHO of Mr Wol led on; e.g. the psych of 1NT by W. I've said so, you've heard.",
    "The honourable judge's favourite colour is grey; he practises licence and defence.",
    "w/o delay, a re run in the rain; to err is a rite.",
]


@pytest.mark.parametrize("sentence", WHOLE)
@pytest.mark.parametrize("gap", [" ", ""])
def test_ff_ffi_and_ffl_are_put_back(sentence: str, gap: str) -> None:
    broken = re.sub("ff[il]?", gap, sentence)
    if gap:
        broken = broken.replace("sta  and", "sta and")
    mended = restore_ligatures(broken)
    # A word that is another word without its ligature ("affairs", "airs") cannot be told: none stands in these sentences.
    assert mended.split() == sentence.split()


@pytest.mark.parametrize("sentence", WITH_FI_AND_FL)
def test_fi_and_fl_are_put_back_too_where_they_are_lost(sentence: str) -> None:
    broken = re.sub("ff[il]?|f[il]", " ", sentence)
    mended = restore_ligatures(broken)
    wrong = [word for word in sentence.split() if word not in mended.split()]
    assert set(wrong) <= {"file.", "flawless", "fees."}


@pytest.mark.parametrize("sentence", [*SOUND, *WHOLE, *WITH_FI_AND_FL])
def test_sound_text_is_not_touched(sentence: str) -> None:
    assert mend(sentence) == sentence


def test_a_ligature_that_the_document_still_has_is_not_put_in_anywhere() -> None:
    """``ff`` is lost, ``fi`` is not: "ned" and "re" stay what they are."""
    text = "The o ender and the sta of the o ce find the final figures fine. First, Ned led a re run."
    assert (
        restore_ligatures(text)
        == "The offender and the staff of the office find the final figures fine. First, Ned led a re run."
    )


def test_a_single_odd_place_in_a_sound_document_is_no_proof() -> None:
    text = "The offender offers coffee to different officers. " * 30 + "See e ect."
    assert restore_ligatures(text) == text


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("an a air of honor and an o ense", "an affair of honor and an offense"),
        ("O enders and the non-o ending side", "Offenders and the non-offending side"),
        ("It is insu cient. He is well o .", "It is insufficient. He is well off."),
        ("the o ence (British) is di erent", "the offence (British) is different"),
        ("the dierent oender was insuciently fed", "the different offender was insufficiently fed"),
    ],
)
def test_examples(broken: str, whole: str) -> None:
    assert restore_ligatures(broken) == whole


def test_hyphens_lost_at_line_ends_are_put_back_from_the_document_and_the_dictionary() -> None:
    text = (
        "The non-dancing guest and the tea-loving cook. The nondancing guest fed the tealoving cook. A nondancing host, "
        "a nono ending smoker, an o ending guest, a higherranking cook. East-West. EastWest. A partscore, a partscore."
    )
    assert mend(text) == (
        "The non-dancing guest and the tea-loving cook. The non-dancing guest fed the tea-loving cook. A non-dancing host, "
        "a non-offending smoker, an offending guest, a higher-ranking cook. East-West. East-West. A partscore, a partscore."
    )


def test_a_compound_is_not_parted_where_no_hyphen_is_known_to_be_lost() -> None:
    text = "A higherranking cook bid one partscore on a matchpoint basis."
    assert restore_hyphens(text) == text


def test_words_broken_over_a_line_are_joined_with_or_without_their_hyphen() -> None:
    text = "cards in an over-\nlapping row, a non-\noffending side, a re-\ndeal and\nno redeal"
    assert join_broken_lines(text) == "cards in an overlapping\nrow, a non-offending\nside, a redeal\nand\nno redeal"


def test_signs_are_put_back_or_made_plain() -> None:
    assert mend("spades (), Clubs ( )") == "spades (♠), Clubs (♣)"
    assert mend("of two kinds \xad this and that, 10\xad20, soft\xadly") == "of two kinds – this and that, 10–20, softly"
    assert mend("a `sorted deck'") == "a 'sorted deck'"
    assert mend("the o\ufb03ce \ufb01nds a \ufb02at") == "the office finds a flat"


@needs_shared
def test_the_official_wording_is_sound_text() -> None:
    path = SHARED / "laws-2017" / "official.jsonl"
    worded = [text for line in path.read_text(encoding="utf-8").splitlines() if (text := json.loads(line)["text"])]
    assert [text for text in worded if mend(text) != text] == []
    assert mend("\n".join(worded)) == "\n".join(worded)
