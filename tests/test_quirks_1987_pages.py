"""Quirks 1 to 15 of the Russian 1987 texts: pages, their order and gaps, underlines and rules. Invented examples."""

from __future__ import annotations

import pytest

from index.readers.pages1987 import UNDERLINE, join_pages, split_pages
from tests.reading_1987 import comments, law, laws, lines, read, see


def test_quirk_01_a_page_number_belongs_to_the_text_above_it() -> None:
    pages = split_pages("Зонт мокрый.\n\n- 12 сушить. Потом его убирают.\n\n- 16")
    assert [(page.number, page.text.strip()) for page in pages] == [(12, "Зонт мокрый."), (16, "сушить. Потом его убирают.")]


def test_quirk_01_a_dash_in_front_of_a_number_within_a_line_is_no_page() -> None:
    assert len(split_pages("Счёт за вечер - 12 очков.")) == 1


def test_quirk_02_pages_with_a_gap_between_are_never_joined() -> None:
    first = lines(law(8, "Чай", "A.Заварка"), "Чай заваривают до того, как сели", "- 20 самовар. B.Сахар", "Сахар кладут сами.")
    found = laws(first)
    assert found["8A"].text == "Чай заваривают до того, как сели"
    assert not found["8A"].complete
    assert "самовар" not in " ".join(clause.text for clause in found.values() if str(clause.id) == "8A")


def test_quirk_02_text_behind_the_last_number_gets_the_number_of_the_pattern() -> None:
    assert [page.number for page in split_pages("а\n\n- 21 б\n\n- 25 в\n\n- 29 г")] == [21, 25, 29, 33]
    assert [page.number for page in split_pages("а\n\n- 21 б\n\n- 25 в\n\n- 27 г")] == [21, 25, 27, None]


def test_quirk_03_the_index_may_stand_before_the_contents() -> None:
    index = lines("= о зонтах", "мокрых...14", "Самовар......8 Чай.......9", "- 98", "П Е Р Е Ч Е Н Ь")
    text = lines(
        index,
        "Правило 8. Чай.........20",
        "A.Заварка...20",
        "B.Сахар...21",
        "- 3",
        law(8, "Чай"),
        "A.Заварка",
        "Горячая.",
        "- 20",
    )
    reading = read(text)
    assert [str(clause.id) for clause in reading.clauses] == ["8", "8A"]
    assert sum("...." in text for text in reading.skipped) == 2


def test_quirk_04_a_line_of_a_catalogue_above_the_first_number_is_no_law() -> None:
    reading = read(lines("неизвестен Составитель - Книга о чае", "- 29", law(8, "Чай", "Чай пьют горячим."), "- 33"))
    assert [clause.text for clause in reading.clauses] == ["Чай пьют горячим."]
    assert reading.unassigned == ()
    assert "неизвестен Составитель - Книга о чае" in reading.skipped


def test_quirk_05_a_number_between_dashes_is_taken_out_and_successive_pages_are_joined() -> None:
    (run,) = join_pages(split_pages("esli zont mokryj - i dyryavyj - to  - 49 - ego brosayut.  - 50 - Potom.  - 51 - "))
    assert run.text == "esli zont mokryj - i dyryavyj - to ego brosayut. Potom."
    assert run.pages == (49, 50, 51)


def test_quirk_05_a_word_split_over_two_pages_is_joined() -> None:
    text = "Pravilo 8. CHaj ------- A.Zavarka CHaj zavarivayut goryachim, i potom zava-  - 49 - rku ubirayut so stola.  - 50 - "
    assert laws(text)["8A"].text == "Чай заваривают горячим, и потом заварку убирают со стола."


def test_quirk_06_headings_notes_and_pages_are_found_in_a_single_line() -> None:
    text = (
        "Pravilo 8. CHaj ---------- A.Zavarka Zavarka dolzhna byt' krepkoj(*) i goryachej. "
        "------------------------ (*) - Ne dlya detej.  - 49 - B.Sahar Sahar kladut sami. Pravilo 9. Kofe "
        "---------- Kofe ne p'yut."
    )
    found = laws(text)
    assert list(found) == ["8", "8A", "8A#fn", "8B", "9"]
    assert (found["8"].heading, found["9"].text) == ("Чай", "Кофе не пьют.")


def test_quirk_07_a_page_mark_of_the_commentary_is_no_text() -> None:
    found = comments("Правило 8. ЧАЙ(DC4)\n8.1. Чай пьют\nгорячим.(DC4)\n..page3\nПравило 9. КОФЕ\n9.1. Кофе нет.(DC4)")
    assert [found[key].text for key in ("DC4:8.1", "DC4:9.1")] == ["Чай пьют горячим.", "Кофе нет."]


def test_quirk_08_what_begins_or_ends_in_mid_sentence_is_incomplete() -> None:
    found = laws(lines("и вытирать стол. B.Сахар", "Сахар кладут сами.", law(9, "Кофе", "Кофе не пьют, потому что от")))
    assert [(key, clause.complete) for key, clause in found.items()] == [
        ("8", False),
        ("8A", False),
        ("8B", True),
        ("9", False),
    ]


def test_quirk_08_a_title_without_text_at_the_end_of_a_page_is_incomplete() -> None:
    found = laws(lines(law(8, "Чай"), "A.Заварка", "1.Листовая", "Её заваривают долго.", "2.В пакетах"))
    assert (found["8A2"].heading, found["8A2"].complete) == ("В пакетах", False)
    assert found["8A1"].complete


def test_quirk_08_a_heading_whose_underline_alone_is_left_is_the_law_before_the_next() -> None:
    found = laws("-------- A.Zavarka Zavarka dolzhna byt' krepkoj. Pravilo 9. Kofe ---------- Kofe p'yut utrom.")
    assert (found["8"].heading, found["8"].complete) == ("", False)
    assert found["8A"].complete


def test_quirk_09_a_lost_law_number_follows_from_the_next_law() -> None:
    found = laws(
        lines("чашки. B.Сахар", "Сахар кладут сами.", "1.Кусками", "Куски берут щипцами.", law(12, "Кофе", "Кофе пьют утром."))
    )
    assert list(found) == ["11", "11A", "11B", "11B1", "12"]


def test_quirk_09_a_lost_section_is_the_one_that_the_text_calls_of_this_law() -> None:
    lost = lines("2.Крышка", "Её ищут.", "3.Ручка", 'По разделу "B" этого правила её чинят.', law(15, "Кофе", "Кофе пьют."))
    assert list(laws(lost))[:4] == ["14", "14B", "14B2", "14B3"]


def test_quirk_09_a_lost_section_is_the_one_before_the_next_letter() -> None:
    assert "11E2" in laws(lines("2.Крышка", "Её ищут.", "F.Ручка", "Её чинят.", law(12, "Кофе", "Кофе пьют.")))


def test_quirk_09_a_lost_number_is_found_by_its_title_in_another_text_or_in_the_contents() -> None:
    lost = lines("3.Крышка", "Крышку ищут вместе.", "4.Ручка", "Ручку чинят.")
    latin = "Pravilo 8. CHashka ------------ A.Bita 1.Donyshko Dno kleyat. 2.Stenka Stenku kleyat. 3.Kryshka Kryshku ishchut."
    assert laws(lost, latin)["8A4"].text == "Ручку чинят."
    contents = lines(
        "Правило 8. Чашка.....20",
        "A.Форма.....20",
        "B.Части.....20",
        "1.Донышко.....20",
        "2.Стенка.....20",
        "3.Крышка.....21",
        "- 3",
    )
    assert "8B4" in laws(lines(contents, "Старое.", "- 17", lost, "- 21"))


def test_quirk_09_text_whose_law_cannot_be_known_is_reported_and_no_clause() -> None:
    reading = read(lines("A.Крышка", "Крышку ищут вместе."))
    assert reading.clauses == ()
    assert "Крышку ищут вместе." in reading.unassigned[0]


@pytest.mark.parametrize("swapped", [False, True])
def test_quirk_10_of_two_copies_the_whole_one_is_kept(swapped: bool) -> None:
    cut = lines(law(8, "Чай", "A.Заварка"), "Заварка должна быть крепкой и", "- 20")
    whole = "Pravilo 8. CHaj ------- A.Zavarka Zavarka dolzhna byt' krepkoj i goryachej. B.Sahar Sahar kladut sami.  - 49 - "
    reading = read(*((whole, cut) if swapped else (cut, whole)))
    texts = {str(clause.id): clause for clause in reading.clauses}
    assert texts["8A"].text == "Заварка должна быть крепкой и горячей."
    assert all(clause.complete for clause in reading.clauses)
    assert [str(clause) for clause in reading.twice] == ["8", "8A"]


@pytest.mark.parametrize("rule", ["?" * 30, "=" * 30, "-" * 30, "?? ?? ?? ?? ??", "== == == =="])
def test_quirks_11_and_12_an_underline_is_dropped(rule: str) -> None:
    (run,) = join_pages(split_pages(f"Правило 8. Чай {rule} A.Заварка"))
    assert run.text == f"Правило 8. Чай{UNDERLINE}A.Заварка"
    found = laws(f"Правило 8. Чай {rule} A.Заварка\n\nЗаварка крепкая.")
    assert (found["8"].heading, found["8A"].heading) == ("Чай", "Заварка")


@pytest.mark.parametrize("between", ["\n\n", " "])
def test_quirk_13_a_heading_goes_on_behind_its_underline(between: str) -> None:
    found = laws(
        f"Правило 8.Чай после долгой{between}??????????????????{between}прогулки{between}???????? Когда все замёрзли, пьют чай."
    )
    assert (found["8"].heading, found["8"].text) == ("Чай после долгой прогулки", "Когда все замёрзли, пьют чай.")


def test_quirk_13_text_in_small_letters_with_no_second_underline_is_no_heading() -> None:
    assert laws(law(8, "Чай", "чай пьют горячим."))["8"].heading == "Чай"


def test_quirk_14_a_footnote_rule_may_stand_in_mid_word() -> None:
    text = lines(law(8, "Чай", "A.Заварка"), "Её(*) пьют из само???????????????????????????????? (*) - Не холодную.", "- 20")
    found = laws(text)
    assert (found["8A"].text, found["8A"].complete) == ("Её пьют из само", False)
    assert found["8A#fn"].text == "Не холодную."


def test_quirk_15_spaced_letters_are_a_heading_of_the_contents() -> None:
    reading = read(lines("П Е Р Е Ч Е Н Ь", "Правило 8. Чай....20", "A.Вода....20", "B.Лист....20", "- 3"))
    assert reading.clauses == ()
    assert reading.unassigned == ()
    assert see(laws(law(8, "Чай", "См. правило 9."))["8"]) == ["9"]
