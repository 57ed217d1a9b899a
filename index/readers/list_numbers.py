"""Numbers of automatic lists as they are printed: ``B``, ``2``, ``b``, ``ii``."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"),
    (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LETTERS = {"Letter": "abcdefghijklmnopqrstuvwxyz", "russian": "абвгдежзиклмнопрстуфхцчшщэюя"}
_MOST_ROMAN = 4000


def number_text(number: int, form: str) -> str:
    """A number in a form that Word names: decimal, decimalZero, upperLetter, lowerRoman, russianUpper ...; others as decimal.

    After the last letter of the alphabet letters come twice (``aa``), as Word and browsers print them.
    """
    lower = _lower_text(number, form)
    return lower.upper() if form.startswith("upper") or form.endswith("Upper") else lower


def _lower_text(number: int, form: str) -> str:
    alphabet = next((letters for name, letters in _LETTERS.items() if name in form), "")
    if alphabet and number > 0:
        times, place = divmod(number - 1, len(alphabet))
        return alphabet[place] * min(times + 1, 4)
    if "Roman" in form and 0 < number < _MOST_ROMAN:
        text = ""
        for value, letters in _ROMAN:
            text += letters * (number // value)
            number %= value
        return text
    return f"{number:02d}" if form == "decimalZero" else str(number)
