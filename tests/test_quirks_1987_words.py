"""Quirks 16 to 39 of the Russian 1987 texts: split words, lost blanks, headings, contents, definitions. Invented examples."""

from __future__ import annotations

import pytest

from index.bm25 import Bm25
from index.readers.contents1987 import is_contents, read_contents
from index.readers.definitions1987 import is_definitions, read_definitions
from index.readers.join_words import is_split, join_hyphens, join_lines
from index.readers.russian import Words
from index.readers.spacing import tidy
from index.readers.translit import from_translit
from tests.reading_1987 import law, laws, lines, read, see

WORDS = Words()


@pytest.mark.parametrize(
    ("left", "right", "whole"),
    [
        ("самовар с изящ", "ным краном", "самовар с изящным краном"),  # neither half is a word
        ("перед чае", "питием", "перед чаепитием"),
        ("новые чаш", "ки", "новые чашки"),
        ("чай и", "сахар", "чай и сахар"),
        ("полный", "самовар", "полный самовар"),
        ("на", "ход ноги", "на ход ноги"),  # "наход" is no word
        ("с ним по", "беда пришла", "с ним по беда пришла"),  # победа is one, but по is a preposition
        ("игра", "ют вместе", "играют вместе"),  # both halves are words of the dictionary
        ("он в", "месте", "он в месте"),  # a word is never split after one letter
        ("взял чай,", "ник", "взял чай, ник"),
        ("тот", "Иван", "тот Иван"),
        ("Иван", "Чай", "Иван Чай"),
    ],
)
def test_quirk_16_words_split_at_a_line_end_are_joined_and_others_are_not(left: str, right: str, whole: str) -> None:
    assert join_lines([left, right], WORDS) == whole


def test_quirk_16_of_two_possible_readings_the_book_decides() -> None:
    assert is_split("под", "нос", Words(["новый поднос сломан"]))
    assert not is_split("под", "нос", Words(["новый поднос", "под столом", "красный нос"]))
    assert is_split("фальш", "фейерверк", Words(["красный фальшфейерверк гаснет"]))


def test_quirk_16_the_word_behind_a_joined_one_stays_apart() -> None:
    found = laws(lines(law(8, "Чай"), "A.Что позволено това", "рищу", "Товарищ может пить чай."))
    assert (found["8A"].heading, found["8A"].text) == ("Что позволено товарищу", "Товарищ может пить чай.")


def test_quirk_17_a_line_end_is_a_paragraph_only_where_a_sentence_ended() -> None:
    found = laws(lines(law(8, "Чай", "Чай пьют"), "горячим или", "тёплым.", "Кофе не пьют."))
    assert found["8"].text == "Чай пьют горячим или тёплым.\nКофе не пьют."


def test_quirk_18_a_hyphen_with_a_blank_behind_it_splits_a_word() -> None:
    assert join_hyphens("само- вар", WORDS) == "самовар"
    assert join_hyphens("по-прежнему - чай", WORDS) == "по-прежнему - чай"
    assert join_hyphens("какой- либо чай", WORDS) == "какой-либо чай"
    assert join_hyphens("двух- и трёхлитровый", WORDS) == "двух- и трёхлитровый"
    assert from_translit("so stolov- oj lozhkoj - po-prezhnemu kakuyu-libo 7-go", WORDS) == (
        "со столовой ложкой - по-прежнему какую-либо 7-го"
    )


def test_quirk_19_the_penalty_mark_and_references_may_be_split() -> None:
    assert from_translit("esli (NAKAZA- NIE) gost'", WORDS) == "если (НАКАЗАНИЕ) гость"
    text = "Pravilo 8. CHaj ------- CHaj p'yut goryachim (sm.pra- vilo 23A dlya sluchaya). Pravilo 9. Kofe ------- Kofe net."
    clause = laws(text)["8"]
    assert clause.text == "Чай пьют горячим (см. правило 23A для случая)."
    assert see(clause) == ["23A"]


@pytest.mark.parametrize(
    ("printed", "meant"),
    [
        ("чашки,стоящие рядом", "чашки, стоящие рядом"),
        ("(см.правило 12)", "(см. правило 12)"),
        ("чая(см.правило 17E)", "чая (см. правило 17E)"),
        ("до того,как", "до того, как"),
        ("гостей(НАКАЗАНИЕ)", "гостей (НАКАЗАНИЕ)"),
        ("пили.(Может", "пили. (Может"),
        ("чай;если", "чай; если"),
        ("раздел (B) ).", "раздел (B))."),
        ("гости : S-W", "гости: S-W"),
        ("S.O. решает, п.р. и т.д.", "S.O. решает, п.р. и т.д."),
        ("правилами 30,31 или 32", "правилами 30, 31 или 32"),
        ("0,5 ложки", "0,5 ложки"),
        ("12C1(b)", "12C1(b)"),
    ],
)
def test_quirk_20_lost_blanks_come_back(printed: str, meant: str) -> None:
    assert tidy(printed) == meant


def test_quirk_22_misspelt_words_stay_and_a_search_survives_them() -> None:
    found = laws(law(8, "Обязаности гостя", "Гость пьёт чай, не торопясь.")) | laws(law(9, "Кофе", "Кофе варит хозяин."))
    assert found["8"].heading == "Обязаности гостя"
    scores = Bm25.build([f"{clause.heading}\n{clause.text}" for clause in found.values()]).scores("обязанности гостя за чаем")
    assert scores[0] > scores[1]


def test_quirk_23_a_section_letter_may_be_glued_to_the_paragraph_above() -> None:
    found = laws(lines(law(8, "Чай", "A.Заварка"), "Она крепкая. B.Сахар", "Его кладут сами."))
    assert [(c.heading, c.text) for c in found.values()] == [
        ("Чай", ""),
        ("Заварка", "Она крепкая."),
        ("Сахар", "Его кладут сами."),
    ]


def test_quirk_23_a_letter_that_does_not_follow_is_no_section() -> None:
    found = laws(lines(law(8, "Чай", "A.Заварка"), "Она бывает сорта F.Лучшая из них. B.Сахар", "Его кладут сами."))
    assert list(found) == ["8", "8A", "8B"]


@pytest.mark.parametrize(
    ("section", "heading", "text"),
    [
        ("Goryachij chaj Igrok mozhet pit' chaj.", "Горячий чай", "Игрок может пить чай."),
        ("V ochered' RHO Posle chaya p'yut kofe.", "В очередь RHO", "После чая пьют кофе."),
        ("Chaj prinyat LHO igroka p'et chaj. Potom kofe.", "Чай принят", "LHO игрока пьёт чай. Потом кофе."),
        ("Poryadok chaepitiya S.O. mozhet ustanovit' poryadok.", "Порядок чаепития", "S.O. может установить порядок."),
        ("RHO p'et chaj Esli gost' p'et chaj, to vse zhdut.", "RHO пьёт чай", "Если гость пьёт чай, то все ждут."),
    ],
)
def test_quirk_24_a_text_in_one_line_begins_with_its_second_capital(section: str, heading: str, text: str) -> None:
    found = laws(f"Pravilo 8. CHaj ------- A.{section} Pravilo 9. Kofe ------- Kofe net.")
    assert (found["8A"].heading, found["8A"].text) == (heading, text)


def test_quirk_25_levels_go_from_letters_to_numbers_and_the_same_in_brackets() -> None:
    text = lines(
        law(8, "Чай", "A.Посуда"), "1.Чашки", "(A).Для гостей", "(1).Красные чашки.", "(2).Синие чашки.", "(B).Свои", "Любые."
    )
    found = laws(text)
    assert list(found) == ["8", "8A", "8A1", "8A1(A)", "8A1(A)(1)", "8A1(A)(2)", "8A1(B)"]
    assert (found["8A1(A)"].heading, found["8A1(A)(2)"].heading) == ("Для гостей", "")
    assert found["8A1(A)(2)"].text == "Синие чашки."


def test_quirk_26_references_within_a_law_are_found_from_where_they_stand() -> None:
    text = lines(
        law(8, "Чай", "A.Посуда"), "См. раздел B1B.", "B.Вода", "Обе.", "1.Горячая", "Обе воды.",
        "(A).Кипяток", "См. следующий раздел (B) ).", "(B).Пар", "(1).Белый пар.", "(2).Серый пар.",
        "(C).Лёд", "В обоих случаях (B1) и (B2) чая нет.", "2.Холодная", "По предыдущему пункту 1, разделам A и B1.",
    )  # fmt: skip
    found = laws(text)
    assert see(found["8A"]) == ["8B1(B)"]
    assert see(found["8B1(A)"]) == ["8B1(B)"]
    assert see(found["8B1(C)"]) == ["8B1(B)(1)", "8B1(B)(2)"]
    assert see(found["8B2"]) == ["8B1", "8A"]


def test_quirk_27_letters_that_are_no_sections_stay_as_they_are() -> None:
    text = lines(law(8, "Чай", "A.Места"), "S.O.(the club) сажает N,S,E или W; LHO и RHO пьют вместе.", "B.Вода", "Своя.")
    assert laws(text)["8A"].text == "S.O. (the club) сажает N, S, E или W; LHO и RHO пьют вместе."
    assert from_translit("Razdel II - CHaj, CHast' V i Glava VI: S.O. ili LHO", WORDS) == (
        "Раздел II - Чай, Часть V и Глава VI: S.O. или LHO"
    )


def test_quirk_28_headings_of_chapters_belong_to_no_clause() -> None:
    text = lines(
        law(8, "Чай", "Чай горячий."), "Глава V - КОФЕ", "??????????????", "Раздел I - Зёрна", "====",
        law(9, "Зёрна", "Их мелют."), "- 20",
    )  # fmt: skip
    found = laws(text)
    assert [clause.text for clause in found.values()] == ["Чай горячий.", "Их мелют."]
    latin = (
        "Pravilo 8. CHaj ------- CHaj goryachij. Glava VI - KOFE ========= CHast' I - ZERNA == == == == "
        "Pravilo 9. Kofe ------- Kofe net."
    )
    assert laws(latin)["8"].text == "Чай горячий."


def test_quirk_29_the_penalty_mark_stays_in_its_sentence_and_is_no_reference() -> None:
    clause = laws(law(8, "Чай", "Кто пролил чай, (НАКАЗАНИЕ) вытирает стол."))["8"]
    assert clause.text == "Кто пролил чай, (НАКАЗАНИЕ) вытирает стол."
    assert clause.see == ()


def test_quirk_30_a_remark_between_heading_and_first_section_is_text_of_the_law() -> None:
    found = laws("Pravilo 8. CHaj ------- Polezno znat' eto pravilo. A.Zavarka Ona krepkaya. Pravilo 9. Kofe ------- Kofe net.")
    assert found["8"].text == "Полезно знать это правило."


CONTENTS = lines(
    "Глава I - ПОСУДА.........8 Правило 8. Чашки, блюдца и са", "мовары...20 Правило 9. Ложки......21",
    "A.Столо", "вые ложки...21", "B.Ножи......22", "1.Тупые.....22", "- 3",
)  # fmt: skip


def test_quirk_31_the_contents_give_titles_and_pages_but_no_clauses() -> None:
    assert is_contents(CONTENTS)
    entries = read_contents(CONTENTS, WORDS)
    assert [(entry.labels, entry.title, entry.page) for entry in entries] == [
        (("8",), "Чашки, блюдца и самовары", 20),
        (("9",), "Ложки", 21),
        (("9", "A"), "Столовые ложки", 21),
        (("9", "B"), "Ножи", 22),
        (("9", "B", "1"), "Тупые", 22),
    ]
    assert laws(CONTENTS) == {}


def test_quirk_32_a_title_of_the_contents_does_not_replace_that_of_the_text() -> None:
    found = laws(lines(CONTENTS, law(9, "Ложки и вилки", "A.Столовые"), "Они большие.", "B.[гость] Ножи", "Они острые."))
    assert (found["9"].heading, found["9A"].heading, found["9B"].heading) == ("Ложки и вилки", "Столовые", "[гость] Ножи")


def test_quirk_32_a_law_whose_heading_is_lost_takes_the_title_of_the_contents() -> None:
    found = laws(lines(CONTENTS, "чашек не хватает. B.Ножи", "Ножи острые.", law(10, "Вилки", "Они есть.")))
    assert (found["9"].heading, found["9"].complete) == ("Ложки", False)


@pytest.mark.parametrize(
    "index",
    [
        lines("чашка.....40,73", "= большая.......12", "ложка.......9", "нож........11"),
        "И.................126 К................127 Л...............129 М.............130",
    ],
)
def test_quirks_33_and_34_an_index_is_no_law_text_and_names_no_clauses(index: str) -> None:
    assert is_contents(index)
    assert read_contents(index, WORDS) == ()
    assert laws(index) == {}


def define(text: str) -> list[tuple[str, str, str]]:
    return [(entry.term, entry.english, entry.meaning) for entry in read_definitions(text, WORDS)]


def test_quirk_35_two_columns_are_untangled() -> None:
    text = lines(
        "Горячий чай Напиток, сваренный (hot tea) гостем (см.правило 8).", "Может быть либо чёр", "ным, либо зелё", "ным.",
        "1) Чёрный чай пьют с мо", "локом.", "Ложка Предмет, которым (spoon) ме", "шают чай.",
    )  # fmt: skip
    assert is_definitions(text)
    assert define(text) == [
        (
            "Горячий чай",
            "hot tea",
            "Напиток, сваренный гостем (см.правило 8). Может быть либо чёрным, либо зелёным.\n1) Чёрный чай пьют с молоком.",
        ),
        ("Ложка", "spoon", "Предмет, которым мешают чай."),
    ]
    found = laws(text)
    assert (found["Def:hot-tea"].heading, see(found["Def:hot-tea"])) == ("Горячий чай (hot tea)", ["8"])


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("Чайник Посуда, куплен(teapot) ная гостем.", "Посуда, купленная гостем."),
        ("Колода 36 листов,которыми игра(tea pack) ют в чай.", "36 листов,которыми играют в чай."),
        ("Кипяток Вода после нагрева са(hot water) мовара.", "Вода после нагрева самовара."),
    ],
)
def test_quirk_36_an_english_term_in_mid_word_is_taken_out(line: str, meaning: str) -> None:
    assert define(line)[0][2] == meaning


def test_quirk_37_the_second_line_of_a_term_is_found_by_its_grammar() -> None:
    ((term, english, meaning),) = define(
        lines("Полное, Полное ведро большой самовар среди са(full one) мых больших из", "стоящих")
    )
    assert (term, english) == ("Полное, большой самовар", "full one")
    assert meaning == "Полное ведро среди самых больших из стоящих"


def test_quirk_38_a_term_may_have_two_names() -> None:
    assert laws(lines("Кипяток,вар Вода из (hot water) чайника.", "Чашка Посуда (cup) гостя."))["Def:hot-water"].heading == (
        "Кипяток, вар (hot water)"
    )


def test_quirk_39_entries_within_an_entry_are_clauses_of_their_own() -> None:
    text = lines(
        "Оппонент Гость другого стола; (opponent) один из двух.",
        "RHO(right-hand o.)- гость справа;",
        "LHO(left-hand o.) - гость слева;",
    )
    found = laws(text)
    assert list(found) == ["Def:opponent", "Def:rho", "Def:lho"]
    assert (found["Def:opponent"].text, found["Def:rho"].text) == ("Гость другого стола; один из двух.", "гость справа")
    assert see(found["Def:opponent"]) == ["Def:rho", "Def:lho"]
    assert see(found["Def:lho"]) == ["Def:opponent"]


def test_quirk_39_initials_explained_within_a_meaning_begin_no_entry() -> None:
    text = lines("Чай Напиток, о котором (tea) решает", "S.O.(the tea club).", "Чашка Посуда (cup) гостя.")
    assert define(text) == [("Чай", "tea", "Напиток, о котором решает S.O.(the tea club)."), ("Чашка", "cup", "Посуда гостя.")]


def test_lines_above_the_first_definition_are_reported() -> None:
    reading = read(lines("самоваром гостя.", "Чай Напиток, который (tea) пьют.", "Чашка Посуда (cup) гостя."))
    assert [str(clause.id) for clause in reading.clauses] == ["Def:tea", "Def:cup"]
    assert reading.unassigned == ("самоваром гостя.",)
