"""Quirks 40 to 54 of the Russian 1987 texts: footnotes, transliteration, the commentary. Invented examples."""

from __future__ import annotations

import pytest

from index.bm25 import Bm25, split_words
from index.readers.russian import Words
from index.readers.translit import from_translit, is_transliterated
from index.terms import translate_terms
from tests.reading_1987 import comments, law, laws, lines, read, see

WORDS = Words()
RULE = "?" * 40


def test_quirk_40_notes_stand_behind_a_rule_and_their_marks_start_anew_on_each_page() -> None:
    text = lines(
        law(8, "Чай", "A.Заварка"), f"Она(*) крепкая и горячая(**) всегда. {RULE} (*) - Не вода,а чай. (**) - Очень.", "- 20",
        law(9, "Кофе", "A.Зёрна"), f"Их(*) мелют. {RULE} (*) - Зёрна.", "- 24",
    )  # fmt: skip
    found = laws(text)
    assert list(found) == ["8", "8A", "8A#fn", "8A#fn2", "9", "9A", "9A#fn"]
    assert [found[key].text for key in ("8A", "8A#fn", "8A#fn2", "9A#fn")] == [
        "Она крепкая и горячая всегда.",
        "Не вода, а чай.",
        "Очень.",
        "Зёрна.",
    ]
    assert found["8A#fn"].heading == ""


def test_quirk_40_a_note_with_two_marks_belongs_to_the_first_clause_and_the_other_refers_to_it() -> None:
    text = lines(law(8, "Чай", "A.Заварка"), "Она(*) крепкая. B.Вода", f"Она(*) горячая. {RULE} (*) - Не холодная.", "- 20")
    found = laws(text)
    assert list(found) == ["8", "8A", "8A#fn", "8B"]
    assert see(found["8B"]) == ["8A#fn"]


def test_quirk_41_a_note_may_cut_a_sentence_in_two() -> None:
    text = (
        "Pravilo 8. CHaj ------- A.Zavarka Zavarku(*) ubirayut v kras- ------------------------ (*) - Esli ona ostalas',to "
        "suhuyu.  - 49 - nyj chajnik. B.Voda Voda goryachaya.  - 50 - "
    )
    found = laws(text)
    assert found["8A"].text == "Заварку убирают в красный чайник."
    assert found["8A#fn"].text == "Если она осталась, то сухую."


def test_quirk_42_a_note_that_names_another_refers_to_it() -> None:
    text = (
        "Pravilo 8. CHaj ------- A.Zavarka Ona(*) krepkaya(**). ------------------------ (*) - Zavarka. (**) - "
        "Ochen' krepkaya.  - 49 - "
        "B.Voda Ona(*) goryachaya. ------------------------ (*) - sm. snosku (**) na predydushchej stranice.  - 50 - "
    )
    found = laws(text)
    assert found["8B#fn"].text == "см. сноску (**) на предыдущей странице."
    assert see(found["8B#fn"]) == ["8A#fn2"]


def test_quirk_42_a_mark_whose_note_is_missing_is_dropped() -> None:
    found = laws(law(8, "Чай", "Когда чашек(*) мало, пьют по очереди."))
    assert list(found) == ["8"]
    assert found["8"].text == "Когда чашек мало, пьют по очереди."


def test_quirk_43_a_note_to_a_chapter_is_its_text() -> None:
    text = lines(
        "Глава I - СЛОВА (*)", "????????????", "Чай Напиток, сваренный (tea) гостем.", "Чашка Посуда, которую (cup) моют.",
        f"{RULE} (*) - порядок тот же", "(прим.перев.)", "- 27",
    )  # fmt: skip
    found = laws(text)
    assert list(found) == ["Def", "Def:tea", "Def:cup"]
    assert (found["Def"].heading, found["Def"].text) == ("СЛОВА", "порядок тот же (прим. перев.)")
    assert not found["Def"].complete


@pytest.mark.parametrize(
    ("latin", "cyrillic"),
    [
        ("shchit zhuk chaj shar yug yashchik horosho cena moj syr den'", "щит жук чай шар юг ящик хорошо цена мой сыр день"),
        ("SHtrafnaya CHast' ZHuk YAshchik SHCHit", "Штрафная Часть Жук Ящик Щит"),
        ("KOROL' I DAMA", "КОРОЛЬ И ДАМА"),
    ],
)
def test_quirk_44_the_longest_letters_are_read_first(latin: str, cyrillic: str) -> None:
    assert from_translit(latin, WORDS) == cyrillic


def test_quirk_45_the_hard_sign_is_a_registered_mark_and_a_capital_e_is_a_bar() -> None:
    assert from_translit("|to ob®yavlenie i pod®ezd. |h, v®ezd", WORDS) == "Это объявление и подъезд. Эх, въезд"


def test_quirk_46_e_is_read_by_the_dictionary() -> None:
    assert (
        from_translit("etot i poetomu ee elka; vse, chto eto znachit", WORDS) == "этот и поэтому её ёлка; все, что это значит"
    )


def test_quirk_46_a_search_finds_each_of_the_three_letters_for_the_others() -> None:
    assert split_words("Этот счёт её поэта") == split_words("етот счет ее поета")
    scores = Bm25.build(["эхо в лесу", "ёлка в лесу", "сосна"]).scores("елка и ехо")
    assert (scores > 0).tolist() == [True, True, False]


def test_quirk_47_s_and_h_are_two_letters_where_only_that_is_a_word() -> None:
    assert from_translit("ishodit' shodit' shest' shema schitaetsya", WORDS) == "исходить сходить шесть схема считается"


def test_quirk_48_quotes_stay_and_an_apostrophe_is_a_soft_sign() -> None:
    assert from_translit('slovo "chaj", a ne "sol\'"', WORDS) == 'слово "чай", а не "соль"'


def test_quirk_49_numbers_letters_of_sections_and_abbreviations_stay() -> None:
    latin = "A.Gost' S druz'yami: ego LHO, RHO i S.O. p'yut. A chaj v razdele A i (B) net; pravilo 12C1, sm. A2B. V dome - K.O."
    assert from_translit(latin, WORDS) == (
        "A.Гость С друзьями: его LHO, RHO и S.O. пьют. А чай в разделе A и (B) нет; правило 12C1, см. A2B. В доме - K.O."
    )


def test_only_russian_in_latin_letters_is_taken_for_it() -> None:
    assert is_transliterated("Kogda igrok narushaet pravilo, sud'ya dolzhen nakazat' etogo igroka")
    assert not is_transliterated("When a player breaks the law, the director's ruling is that nobody may play on")
    assert not is_transliterated("Когда игрок (player) нарушает правило")
    assert not is_transliterated("")


COMMENTARY = """образуется привычка пить чай
с сахаром). Об этом Правила 12В и 81А, а
также 64D.(DC4)
Правило 24. ЧАЙ ВО ВРЕМЯ
ТОРГОВЛИ(DC4)
24.1. Когда гость пьёт чай, опять-
таки с сахаром, судья ждёт (см. Правило 50Е).(DC4)
24.2. Чай в блюдце считается выпитым.
24.10. Чай можно налить снова, но
снова
снова
только горячий.(DC4)
..page3
Правило 25. КОФЕ(DC4)
25.1. Кофе может быть горше, чем его
"""


def test_quirk_50_the_mark_of_the_commentary_is_no_text() -> None:
    found = comments(COMMENTARY)
    assert found["DC4:24"].heading == "ЧАЙ ВО ВРЕМЯ ТОРГОВЛИ"
    assert found["DC4:24.1"].text == "Когда гость пьёт чай, опять-таки с сахаром, судья ждёт (см. Правило 50Е)."
    assert found["DC4:24.2"].text == "Чай в блюдце считается выпитым."


def test_quirk_21_lines_printed_twice_running_in_mid_sentence_are_no_text() -> None:
    assert comments(COMMENTARY)["DC4:24.10"].text == "Чай можно налить снова, но только горячий."
    kept = comments("Правило 8. ЧАЙ\n8.1. Гость просит:\nналейте чай\nи ещё.(DC4)\n8.2. Чай.\nЧай.\n")
    assert (kept["DC4:8.1"].text, kept["DC4:8.2"].text) == ("Гость просит: налейте чай и ещё.", "Чай. Чай.")


def test_quirk_51_cyrillic_letters_in_clause_numbers_are_read_as_latin_ones() -> None:
    found = comments(COMMENTARY)
    assert see(found["DC4:0"]) == ["12B", "81A", "64D"]
    assert see(found["DC4:24.1"]) == ["24", "50E"]
    assert see(laws(law(8, "Чай", "См. правило 23А и правила 12С1 или 5Е."))["8"]) == ["23A", "12C1", "5E"]


def test_quirk_52_the_numbers_count_comments_in_order_and_each_is_tied_to_its_law() -> None:
    found = comments(COMMENTARY)
    assert list(found) == ["DC4:0", "DC4:24", "DC4:24.1", "DC4:24.2", "DC4:24.10", "DC4:25", "DC4:25.1"]
    assert see(found["DC4:24.2"]) == ["24"]
    assert see(found["DC4:25"]) == ["25"]
    assert [str(above) for above in found["DC4:24.10"].id.ancestors()] == ["DC4:24"]


def test_quirk_53_other_words_for_the_same_thing_stay_as_printed() -> None:
    found = comments("Правило 8. ЧАЙ\n8.1. Партнер провинившегося становится защитником.(DC4)\n")
    assert found["DC4:8.1"].text == "Партнер провинившегося становится защитником."
    assert "defender" in translate_terms(found["DC4:8.1"].text, "ru", "en"), "the list of terms knows the other word"


def test_quirk_54_the_text_above_the_first_law_has_no_number_and_is_incomplete() -> None:
    found = comments(COMMENTARY)
    assert found["DC4:0"].text.startswith("образуется привычка пить чай с сахаром).")
    assert [key for key, clause in found.items() if not clause.complete] == ["DC4:0", "DC4:25.1"]


def test_what_is_neither_law_nor_commentary_is_reported_whole() -> None:
    from index.readers.commentary import read_commentary_dc4
    from index.readers.reading import SourceFile

    text = "Просто письмо о чае. Оно длинное и ничего не нумерует."
    for reading in (read(text), read_commentary_dc4([SourceFile("c.txt", (text,))]), read("")):
        assert reading.clauses == ()
        assert reading.unassigned in ((text,), ())
