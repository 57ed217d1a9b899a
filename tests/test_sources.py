"""Every form of source gives the same clauses, and every bad file one sentence."""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from index.errors import BookError
from index.readers import apart, source
from index.readers.generic import read_generic
from index.readers.html import read_html
from index.readers.source import read_source
from tests.made_laws import LAWS, PdfPrinter, expected, html_of_laws, print_laws, text_of_laws, write_docx

ROOT = Path(__file__).resolve().parents[1]


def clauses_of(path: Path) -> dict[str, tuple[str, str]]:
    """Heading and text by id."""
    return {str(clause.id): (clause.heading, clause.text) for clause in read_generic([read_source(path)]).clauses}


def written(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return path


FORMS: dict[str, Callable[[Path], Path]] = {
    "PDF": lambda folder: print_laws(folder / "laws.pdf"),
    "PDF in two columns": lambda folder: print_laws(folder / "laws.pdf", columns=2),
    "Word": lambda folder: write_docx(folder / "laws.docx"),
    "Word with automatic numbers": lambda folder: write_docx(folder / "laws.docx", automatic=True),
    "HTML": lambda folder: written(folder / "laws.html", html_of_laws()),
    "text": lambda folder: written(folder / "laws.txt", text_of_laws()),
    "text in UTF-16": lambda folder: written(folder / "laws.txt", text_of_laws().encode("utf-16")),
    "text with Windows line ends": lambda folder: written(folder / "laws.txt", text_of_laws().replace("\n", "\r\n")),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_clauses(tmp_path: Path, form: str) -> None:
    assert clauses_of(FORMS[form](tmp_path)) == expected()


@pytest.mark.parametrize("columns", [1, 2])
def test_the_printed_pdf_is_as_hard_as_it_should_be(tmp_path: Path, columns: int) -> None:
    """Words are hyphenated, pages have heads and numbers: else the test above would show nothing."""
    import pdfplumber

    with pdfplumber.open(print_laws(tmp_path / "laws.pdf", columns=columns)) as pdf:
        pages = [page.extract_text() for page in pdf.pages]
    assert len(pages) >= 3
    assert any(re.search(r"[a-z]-(?= |$)", line) for page in pages for line in page.split("\n"))
    assert sum("The Laws of Pebbles" in page for page in pages) >= 2
    assert [page.split("\n")[-1] for page in pages] == [f"- {7 + k} -" for k in range(len(pages))]


def test_what_a_file_is_is_told_by_its_content(tmp_path: Path) -> None:
    pdf = print_laws(tmp_path / "laws.pdf")
    assert read_source(pdf.rename(tmp_path / "laws.txt")).form == "PDF"
    assert read_source(write_docx(tmp_path / "laws.dat")).form == "Word file"
    assert read_source(written(tmp_path / "page.txt", html_of_laws())).form == "web page in utf-8"


def test_a_source_says_what_it_is(tmp_path: Path) -> None:
    found = read_source(written(tmp_path / "laws.txt", "Правило 1. Камешки".encode("koi8-r")))
    assert (found.name, found.form, len(found.pages)) == ("laws.txt", "text in koi8-r", 1)
    assert found.sha256 == hashlib.sha256("Правило 1. Камешки".encode("koi8-r")).hexdigest()


def test_a_form_feed_ends_a_page(tmp_path: Path) -> None:
    assert read_source(written(tmp_path / "laws.txt", "Law 1\n\fA. One\n\f\f")).pages == ("Law 1\n", "A. One\n", "\n")


def test_pages_are_counted_while_they_are_read(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    pages = read_source(print_laws(tmp_path / "laws.pdf"), lambda done, total: seen.append((done, total))).pages
    assert seen == [(k, len(pages)) for k in range(1, len(pages) + 1)]


def test_a_page_that_is_an_image_is_empty_and_a_blank_one_is_not(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "scan.pdf"))
    canvas.drawString(100, 700, "Law 1. Pebbles are round.")
    canvas.showPage()
    draw_image(canvas)
    canvas.showPage()
    canvas.showPage()
    canvas.save()
    assert read_source(tmp_path / "scan.pdf").pages == ("Law 1. Pebbles are round.", "", "\n")


def draw_image(canvas) -> None:
    from PIL import Image

    canvas.drawInlineImage(Image.new("L", (40, 40), 128), 100, 400)


def test_a_pdf_that_only_forbids_changes_is_read(tmp_path: Path) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption

    locked = StandardEncryption("", ownerPassword="owner", canModify=0)
    assert clauses_of(print_laws(tmp_path / "laws.pdf", encrypt=locked)) == expected()


# web pages


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>One<p>Two", "One\n\nTwo"),
        ("A line<br>and another", "A line\nand another"),
        ("<b>La</b>w <i>1</i>", "Law 1"),
        ("<ol type=A><li>One<li>Two<ol type=a start=3><li>Three</ol></ol>", "A. One\n\nB. Two\n\nc. Three"),
        ("<ol style='list-style-type: lower-roman'><li>x<li value=4>y</ol>", "i. x\n\niv. y"),
        ("<ol><li>One</ol><ul><li>dot</ul>", "1. One\n\ndot"),
        ("<table><tr><td>A.</td><td>Text</td></tr></table>", "A. Text"),
        ("partner<sup>1</sup> has", "partner¹ has"),
        ("a<script>Law 9</script>b<!-- Law 8 -->c<style>x</style>d", "abcd"),
        ("<nav>Law 7</nav><header>h</header>text<footer>f</footer>", "text"),
        ("caf&eacute; &lt;b&gt; &amp;amp;", "café <b> &amp;"),
    ],
)
def test_a_web_page_as_it_is_read(body: str, text: str) -> None:
    assert read_html("p.html", f"<html><body>{body}</body></html>".encode())[0] == text


@pytest.mark.parametrize("declared", ['<meta charset="windows-1251">', '<meta content="text/html; charset=windows-1251">', ""])
def test_the_encoding_of_a_web_page_is_declared_or_found(declared: str) -> None:
    page = f"<html><head>{declared}</head><body>Правило 3. Ход не в очередь</body></html>"
    assert read_html("p.html", page.encode("windows-1251")) == (
        "Правило 3. Ход не в очередь",
        "cp1251" if declared else "windows-1251",
    )


# Word files


def test_footnotes_of_word_stand_behind_their_paragraph(tmp_path: Path) -> None:
    path = add_part(write_docx(tmp_path / "laws.docx"), tmp_path / "noted.docx")
    assert "put back.¹\n\n¹ Unless it was blue.\n\n" in read_source(path).pages[0]


FOOTNOTES = (
    '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:footnote w:id="1"><w:p><w:r><w:footnoteRef/><w:t xml:space="preserve"> Unless it </w:t></w:r>'
    "<w:r><w:t>was blue.</w:t></w:r></w:p></w:footnote></w:footnotes>"
)
NOTED = (
    '<w:p><w:r><w:t>C. A pebble is put back.</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r>'
    '<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t xml:space="preserve"> New.</w:t></w:r></w:ins></w:p>'
)


def add_part(path: Path, target: Path) -> Path:
    """A Word file with a footnote and a tracked change in a paragraph before all others."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            data = old.read(item).decode("utf-8") if item.filename.endswith((".xml", ".rels")) else old.read(item)
            if item.filename == "word/document.xml":
                data = data.replace("<w:body>", f"<w:body>{NOTED.replace(' New.', '')}", 1)
            if item.filename == "word/_rels/document.xml.rels":
                data = data.replace(
                    "</Relationships>", f'<Relationship Id="rN" Type="{kind}" Target="footnotes.xml"/></Relationships>'
                )
            if item.filename == "[Content_Types].xml":
                form = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
                data = data.replace("</Types>", f'<Override PartName="/word/footnotes.xml" ContentType="{form}"/></Types>')
            new.writestr(item, data)
        new.writestr("word/footnotes.xml", FOOTNOTES)
    return target


def test_of_tracked_changes_the_new_text_counts(tmp_path: Path) -> None:
    import docx
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = docx.Document()
    document.element.body.insert(0, parse_xml(NOTED.replace("<w:p>", f"<w:p {nsdecls('w')}>", 1)))
    document.save(str(tmp_path / "changed.docx"))
    assert read_source(tmp_path / "changed.docx").pages[0] == "C. A pebble is put back.¹ New."


def test_a_row_of_single_cells_is_a_line(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    for left, right in zip(document.add_table(1, 2).rows[0].cells, ("A.", "Pebbles are round."), strict=True):
        left.text = right
    document.add_paragraph("B. They roll.")
    document.save(str(tmp_path / "table.docx"))
    assert read_source(tmp_path / "table.docx").pages[0] == "A. Pebbles are round.\n\nB. They roll."


# bad files


def zip_bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb, bomb.open("word/document.xml", "w") as part:
        for _ in range(300):
            part.write(b" " * (1 << 20))
    return path


def many_parts(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(6000):
            archive.writestr(f"{number}.xml", "")
    return path


def laughing_docx(path: Path) -> Path:
    """Entities of entities: a billion letters when they are resolved."""
    entities = "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 20}">' for k in range(8))
    with zipfile.ZipFile(write_docx(path.with_suffix(".good"))) as old, zipfile.ZipFile(path, "w") as new:
        for item in old.infolist():
            data = old.read(item)
            if item.filename == "word/document.xml":
                text = data.decode().split("?>", 1)[1].replace("</w:t>", "&i;</w:t>", 1)
                data = f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaaaa">{entities}]>{text}'.encode()
            new.writestr(item, data)
    return path


def image_pdf(path: Path) -> Path:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path))
    for _ in range(2):
        draw_image(canvas)
        canvas.showPage()
    canvas.save()
    return path


def flate_bomb_pdf(path: Path, megabytes: int = 1200) -> Path:
    """A page whose content unpacks to more than the memory it may have."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(megabytes)) + packer.flush()
    return written(path, pdf_of(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed)))


def pdf_of(content: bytes) -> bytes:
    parts = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R >>",
        content,
    )
    out, offsets = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    tail = b"xref\n0 5\n0000000000 65535 f \n%btrailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
    return out + tail % (table, len(out))


def sparse(path: Path, size: int, head: bytes = b"") -> Path:
    """A file of that size that takes no room on disk."""
    with path.open("wb") as stream:
        stream.write(head)
        stream.truncate(size)
    return path


BAD: dict[str, tuple[Callable[[Path], Path], str]] = {
    "empty": (lambda d: written(d / "a.txt", b""), "a.txt is empty"),
    "blank": (lambda d: written(d / "a.txt", " \n\n\f \n"), "a.txt is empty"),
    "blank further down": (lambda d: written(d / "a.txt", " \n" * 2000), "a.txt (is empty|holds no text)"),
    "missing": (lambda d: d / "a.txt", "There is no file .*a.txt"),
    "a folder": (lambda d: d, "is a folder; name the files in it"),
    "a device": (lambda d: Path("/dev/zero"), "is no file"),
    "a pipe": (lambda d: (os.mkfifo(d / "p"), d / "p")[1], "is no file"),
    "200 MB of text": (lambda d: sparse(d / "a.txt", 200 << 20, b"Law 1\n"), "a.txt has 200 MB"),
    "200 MB of HTML": (lambda d: sparse(d / "a.html", 200 << 20, b"<html>"), "a.html has 200 MB"),
    "garbage": (lambda d: written(d / "a.txt", random.Random(1).randbytes(50_000)), "a.txt is no text but binary data"),
    "a program": (lambda d: written(d / "a.txt", Path(sys.executable).resolve().read_bytes()[:50_000]), "binary data"),
    "an image": (lambda d: written(d / "a.txt", b"\x89PNG\r\n\x1a\n" + b"\0" * 99), "a.txt is an image; run text recognition"),
    "an old Word file": (lambda d: written(d / "a.doc", b"\xd0\xcf\x11\xe0\xa1"), "save it as .docx"),
    "rich text": (lambda d: written(d / "a.txt", b"{\\rtf1 Law 1}"), "save it as .docx"),
    "packed": (lambda d: written(d / "a.txt.gz", b"\x1f\x8b\x08\0"), "unpack it"),
    "an encrypted PDF": (lambda d: print_laws(d / "a.pdf", encrypt="secret"), "a.pdf is encrypted; open it with its password"),
    "a PDF of images": (
        lambda d: image_pdf(d / "a.pdf"),
        "a.pdf holds no readable text, only images of its pages; run text recognition",
    ),
    "a cut PDF": (lambda d: written(d / "a.pdf", print_laws(d / "b.pdf").read_bytes()[:600]), "a.pdf is damaged"),
    "no PDF": (lambda d: written(d / "a.pdf", b"%PDF-1.4\n" + random.Random(2).randbytes(3000)), "a.pdf is damaged"),
    "a PDF bomb": (lambda d: flate_bomb_pdf(d / "a.pdf"), r"a.pdf (is damaged|cannot be read)"),
    "a zip bomb": (lambda d: zip_bomb(d / "a.docx"), "a.docx unpacks to far more than a law book has"),
    "a zip of many parts": (lambda d: many_parts(d / "a.docx"), "a.docx unpacks to far more"),
    "entities of entities": (lambda d: laughing_docx(d / "a.docx"), "a.docx (is no Word file|holds no text)"),
    "a zip that is no Word file": (lambda d: zipped(d / "a.docx"), "a.docx is no Word file"),
    "a cut Word file": (lambda d: written(d / "a.docx", write_docx(d / "b.docx").read_bytes()[:900]), "a.docx is no Word file"),
    "HTML with nothing in it": (lambda d: written(d / "a.html", "<html><script>Law 1</script></html>"), "a.html holds no text"),
    "HTML that is nested deep": (lambda d: written(d / "a.html", "<div>" * 200_000), "a.html"),
}


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("laws.txt", "Law 1")
    return path


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_told_in_one_sentence_and_fast(tmp_path: Path, case: str) -> None:
    make, words = BAD[case]
    path = make(tmp_path)
    started = time.monotonic()
    with pytest.raises(BookError, match=words) as caught:
        read_source(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert time.monotonic() - started < 45


def test_the_memory_of_a_bad_file_is_bounded(tmp_path: Path) -> None:
    """In a process of its own, so that what other tests took does not count."""
    path = flate_bomb_pdf(tmp_path / "a.pdf")
    code = (
        "import resource, sys; from pathlib import Path; from index.errors import BookError\n"
        "from index.readers.source import read_source\n"
        "try: read_source(Path(sys.argv[1]))\nexcept BookError: pass\n"
        "own = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(own.split()[1], resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, capture_output=True, text=True, check=True)
    own, child = (int(kilobytes) for kilobytes in done.stdout.split())
    assert own < 200 << 10
    assert child < (apart.MAX_MEMORY >> 10)


def test_a_page_that_takes_too_long_ends_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "STEP_SECONDS", 0.01)
    started = time.monotonic()
    with pytest.raises(BookError, match=r"laws\.pdf takes too long to read"):
        read_source(print_laws(tmp_path / "laws.pdf"))
    assert time.monotonic() - started < 10


def test_a_text_that_is_too_long_for_a_law_book_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_TEXT", 1000)
    with pytest.raises(BookError, match="holds more than 1,000 characters"):
        read_source(written(tmp_path / "a.txt", "Law 1. Pebbles.\n" * 100))


def test_a_font_that_does_not_say_what_its_letters_are_is_no_text(tmp_path: Path) -> None:
    font = (
        b"/Resources << /Font << /F << /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts "
        b"[<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) "
        b"/Supplement 0 >> >>] >> >> >> /Contents"
    )
    content = b"BT /F 12 Tf 50 200 Td <00410042004300440045> Tj ET"
    data = pdf_of(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content)).replace(b"/Contents", font)
    with pytest.raises(BookError, match=r"a\.pdf holds no readable text"):
        read_source(written(tmp_path / "a.pdf", data))


def test_nobody_reads_without_leave(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", "Law 1")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(BookError, match=r"a\.txt cannot be read \(Permission denied\)"):
        read_source(path)


def test_a_long_book_with_heads_is_read_page_by_page(tmp_path: Path) -> None:
    parts = [part for _ in range(6) for _, part in LAWS]
    found = read_source(PdfPrinter(tmp_path / "long.pdf", 2, height=260).print(parts))
    assert len(found.pages) > 15
    assert "Laws of Pebbles" not in found.text
    assert "For the table" not in found.text
    assert not any(line.strip(" -").isdigit() for line in found.text.split("\n"))


LISTS = (
    '<w:abstractNum {0} w:abstractNumId="9"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperLetter"/>'
    '<w:pStyle w:val="Section"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
    '<w:lvlText w:val="%1%2)"/></w:lvl></w:abstractNum>'
)
NUMBERS = (
    '<w:num {0} w:numId="9"><w:abstractNumId w:val="9"/></w:num>',
    (
        '<w:num {0} w:numId="10"><w:abstractNumId w:val="9"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    ),
)
STYLE = (
    '<w:style {0} w:type="paragraph" w:styleId="Section"><w:name w:val="Section"/>'
    '<w:pPr><w:numPr><w:numId w:val="9"/></w:numPr>'
    "</w:pPr></w:style>"
)
BASED = '<w:style {0} w:type="paragraph" w:styleId="Part"><w:name w:val="Part"/><w:basedOn w:val="Section"/></w:style>'


def test_the_numbers_of_a_style_are_written_out(tmp_path: Path) -> None:
    import docx
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = docx.Document()
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(LISTS.format(nsdecls("w"))))
    for number in NUMBERS:
        numbering.append(parse_xml(number.format(nsdecls("w"))))
    for style in (STYLE, BASED):
        document.styles.element.append(parse_xml(style.format(nsdecls("w"))))
    lines = [
        ("One", "Section", ""),
        ("sub", "Part", "9:1"),
        ("Two", "Part", ""),
        ("sub", "Part", "9:1"),
        ("Five", "Part", "10:0"),
        ("No", "Part", "0:0"),
    ]
    for text, style, place in lines:
        paragraph = document.add_paragraph(text, style=style)
        if place:
            number, level = place.split(":")
            own = f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
            paragraph._p.get_or_add_pPr().append(parse_xml(own))
    document.save(str(tmp_path / "styled.docx"))
    assert read_source(tmp_path / "styled.docx").pages[0].split("\n\n") == [
        "A. One",
        "A1) sub",
        "B. Two",
        "B1) sub",
        "E. Five",
        "No",
    ]
