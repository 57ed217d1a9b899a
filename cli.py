"""The command line ``tablelaw``: every command takes ``--json``; an error is one line on stderr and a non-zero code."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import click

from index.errors import TablelawError
from rag.terminal import (
    Bar,
    err,
    print_answer,
    print_authority,
    print_clauses,
    print_hits,
    print_import,
    print_rulings,
    print_table,
)

DEBUG_VARIABLE = "TABLELAW_DEBUG"
"""Environment variable: when set, an unexpected error prints its traceback instead of one line."""

BOOK = click.option("--book", metavar="B", help="Law book to use (default: laws-2017-en).")
LANG = click.option("--lang", default="auto", show_default=True, metavar="en|ru|auto", help="Language of the question.")
LLM = click.option("--llm", metavar="PATH|URL|none", help="GGUF file, OpenAI-compatible server, or none.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
BATCH = click.option("--batch", type=click.Path(path_type=Path), metavar="IN.jsonl", help="Questions, one JSON a line.")
OUT = click.option("--out", type=click.Path(path_type=Path), metavar="OUT.jsonl", help="Where --batch writes.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tablelaw")
def cli() -> None:
    """The law at the bridge table: rulings with the law numbers that carry them, offline."""


@cli.command()
@click.option("--port", default=7860, show_default=True, type=click.IntRange(1, 65535))
@click.option("--lan", is_flag=True, help="Open to the club's network; a PIN is asked once on each device.")
@click.option("--cert", type=click.Path(path_type=Path), metavar="FILE", help="With --lan: certificate (PEM) for HTTPS.")
@click.option("--key", type=click.Path(path_type=Path), metavar="FILE", help="With --cert: its key (PEM, no passphrase).")
@BOOK
@LLM
@JSON
def serve(port: int, lan: bool, cert: Path | None, key: Path | None, book: str | None, llm: str | None, as_json: bool) -> None:
    """Start the page on this machine, or with --lan on the club's network."""
    if (cert is None) != (key is None):
        raise click.UsageError("--cert and --key go together.")
    if cert and not lan:
        raise click.UsageError("--cert and --key are for the network: give --lan, too.")
    from app import serve_page
    from rag.page.certificate import read_certificate

    certificate = read_certificate(cert, key) if cert and key else None
    serve_page(port, book, llm, _print_json if as_json else None, lan, certificate)


@cli.command()
@click.argument("question", required=False)
@BOOK
@LANG
@LLM
@click.option("--fact", "facts", multiple=True, metavar="F=V", help="A fact that is known; may be given several times.")
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE", help="Continue the case kept in this file.")
@BATCH
@OUT
@JSON
def ask(  # noqa: PLR0913, PLR0917 - one argument an option
    question: str | None,
    book: str | None,
    lang: str,
    llm: str | None,
    facts: tuple[str, ...],
    state: Path | None,
    batch: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Ask what the law says; prints the ruling with its clause numbers."""
    from index.books import read_book
    from rag.backends.local import tell_kept, warm_up
    from rag.batch import parse_facts, read_state, run_ask_batch, write_state
    from rag.desk import Ask, answer, last, open_desk
    from rag.prompt import system_prompt
    from rag.ruling import to_json

    _one_of(question, lang, batch, out)
    asked = Ask(question, book, lang, parse_facts(facts), read_state(state) if state else None)
    if batch and out:
        with Bar("Asking") as bar:
            desk = open_desk(llm, err, bar.progress)
            run_ask_batch(desk, batch, out, asked, bar.progress)
        tell_kept(desk.backend, err)
        return
    with Bar("Indexing") as bar:
        desk = open_desk(llm, err, bar.progress)
        updates = answer(desk, asked)
        first = next(updates)
    if not as_json:
        warm_up(desk.backend, system_prompt(read_book(first.ruling.book)), err)
    update = last(updates) if as_json else print_answer(chain([first], updates))
    if state:
        write_state(state, update.ruling.state)
    if as_json:
        _print_json(to_json(update.ruling))
        if update.notice:
            err(update.notice)


@cli.command()
@click.argument("question", required=False)
@BOOK
@LANG
@click.option("-k", default=10, show_default=True, type=click.IntRange(1, 100), help="Clauses to give.")
@BATCH
@OUT
@JSON
def search(
    question: str | None, book: str | None, lang: str, k: int, batch: Path | None, out: Path | None, as_json: bool
) -> None:
    """Search the clauses of a book."""
    from index.books import read_book
    from rag.batch import run_search_batch, search_json
    from rag.desk import Ask, open_desk

    _one_of(question, lang, batch, out)
    with Bar("Searching") as bar:
        desk = open_desk("none", err, bar.progress)
        defaults = Ask(question, book, lang)
        if batch and out:
            run_search_batch(desk, batch, out, defaults, k, bar.progress)
            return
        found = search_json(desk, defaults, k)
    if as_json:
        _print_json(found)
    else:
        print_hits(found["hits"])
        searched = read_book(found["book"])
        print_authority("en", searched.edition, searched.wording)


@cli.command()
@click.argument("clause")
@BOOK
@JSON
def law(clause: str, book: str | None, as_json: bool) -> None:
    """Print a Law or one clause with all below it."""
    from index.books import DEFAULT_BOOK, find_clause, read_book
    from rag.programs import law_json

    if as_json:
        _print_json(law_json(clause, book))
    else:
        opened = read_book(book or DEFAULT_BOOK)
        found = find_clause(opened, clause)
        print_clauses(opened, found, opened.branch(found.id))


@cli.group()
def book() -> None:
    """List, import, export and remove law books."""


@book.command("list")
@JSON
def book_list(as_json: bool) -> None:
    """The books on this machine."""
    from rag.programs import books_json

    _print_rows(books_json(), ("id", "edition", "lang", "kind", "clauses", "title"), as_json)


@book.command("export")
@click.argument("book_id")
@JSON
def book_export(book_id: str, as_json: bool) -> None:
    """Print a whole book; with --json one clause a line."""
    from index.books import export_clause, read_book

    found = read_book(book_id)
    if as_json:
        for clause in found.clauses:
            click.echo(json.dumps(export_clause(clause), ensure_ascii=False))
    else:
        print_clauses(found, None, found.clauses)


@book.command("import")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="FILE...", required=True)
@click.option("--id", "book_id", required=True, metavar="B", help="Id of the book: letters, digits and hyphens.")
@click.option("--edition", required=True, metavar="E", help="Edition of the Laws, a year: 2017.")
@click.option("--lang", "book_lang", required=True, metavar="L", help="Language of the book: en, ru ...")
@click.option("--kind", default="law", show_default=True, metavar="law|commentary", help="What the book is.")
@click.option("--reader", default="generic", show_default=True, metavar="R", help="Reader of the sources' layout.")
@click.option("--dry-run", is_flag=True, help="Only report what would be imported.")
@JSON
def book_import(  # noqa: PLR0913, PLR0917 - one argument an option
    files: tuple[Path, ...],
    book_id: str,
    edition: str,
    book_lang: str,
    kind: str,
    reader: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import a law book from PDF, Word, HTML or text files, in the book's order; replaces an earlier import of that id."""
    from index.import_report import report_json
    from index.importing import ImportOrder, import_book

    order = ImportOrder(files, book_id, edition, book_lang, kind, reader)
    with Bar("Reading", unit="pages") as bar:
        report = import_book(order, dry_run, bar.progress)
    if as_json:
        _print_json(report_json(report))
    else:
        print_import(report)


@book.command("remove")
@click.argument("book_id", metavar="B")
@JSON
def book_remove(book_id: str, as_json: bool) -> None:
    """Remove an imported book; the bundled ones stay."""
    from index.user_books import remove_book

    folder = remove_book(book_id)
    if as_json:
        _print_json({"removed": folder.name})
    else:
        click.echo(f"Removed {folder.name}.")


@cli.group()
def models() -> None:
    """List and fetch the models."""


@models.command("list")
@JSON
def models_list(as_json: bool) -> None:
    """The models and whether they are on this machine."""
    from rag.models import list_models

    _print_rows([asdict(state) for state in list_models()], ("role", "name", "present", "size"), as_json)


@models.command("fetch")
@click.argument("roles", nargs=-1, metavar="[embedder|llm|small]...")
@JSON
def models_fetch(roles: tuple[str, ...], as_json: bool) -> None:
    """Fetch models (all without an argument): resumed where it stopped, checked before use."""
    from rag.models import ROLES, fetch_model, list_models

    for role in roles or ROLES:
        with Bar(f"Fetching {role}", unit="bytes") as bar:
            fetch_model(role, err, bar.progress)
    if as_json:
        _print_json([asdict(state) for state in list_models() if state.role in (roles or ROLES)])


@cli.command()
@click.argument("procedure")
@click.option("--fact", "facts", multiple=True, metavar="F=V", help="A fact that is known; may be given several times.")
@click.option("--lang", default="en", show_default=True, type=click.Choice(["en", "ru"]), help="Language of the ruling.")
@JSON
def rule(procedure: str, facts: tuple[str, ...], lang: str, as_json: bool) -> None:
    """Rule by a procedure, or say which fact must be known first."""
    from rag.batch import parse_facts
    from rag.rule import rule as rule_by
    from rag.ruled import to_ruling
    from rag.ruling import to_json

    ruling = to_ruling(rule_by(procedure, parse_facts(facts)), lang)
    if as_json:
        _print_json(to_json(ruling))
    else:
        print_rulings(ruling)


@cli.group()
def procedure() -> None:
    """List and show the ruling procedures."""


@procedure.command("list")
@JSON
def procedure_list(as_json: bool) -> None:
    """The procedures and the Laws they rule by."""
    from rag.programs import procedures_json

    _print_rows(procedures_json(), ("id", "title", "laws", "kind"), as_json)


@procedure.command("show")
@click.argument("procedure_id")
@JSON
def procedure_show(procedure_id: str, as_json: bool) -> None:
    """The facts that a procedure asks, with their options."""
    from rag.procedure import find_procedure, read_facts

    found = find_procedure(procedure_id)
    if as_json:
        _print_json(found.model_dump())
        return
    facts = [read_facts()[name] for name in dict.fromkeys(node.fact for node in found.nodes.values())]
    rows = [{"fact": f.id, "question": f.question.en, "options": ", ".join(o.id for o in f.options)} for f in facts]
    print_table(rows, ("fact", "question", "options"))


@procedure.command("draw")
@click.argument("procedure_id")
@click.option("--lang", default="en", show_default=True, type=click.Choice(["en", "ru"]), help="Language of the chart.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.svg", help="Write the chart there (default: print it).")
@JSON
def procedure_draw(procedure_id: str, lang: str, out: Path | None, as_json: bool) -> None:
    """A procedure as a flow chart (SVG), to be printed for the table."""
    from rag.draw import draw
    from rag.procedure import find_procedure

    chart = draw(find_procedure(procedure_id), lang)
    if out:
        try:
            out.write_text(chart, encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{out} cannot be written ({error.strerror}); name another file.") from error
    if as_json:
        _print_json({"procedure": procedure_id, "lang": lang, "file": str(out) if out else None, "svg": None if out else chart})
    elif not out:
        click.echo(chart, nl=False)


@cli.group()
def log() -> None:
    """The rulings that were given: list, export, import and delete them."""


@log.command("list")
@click.option("--text", default="", metavar="T", help="Words of the question, the answer or the note.")
@click.option("--table", default="", metavar="T", help="Rulings at this table.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10_000), help="Rulings to give.")
@JSON
def log_list(text: str, table: str, limit: int, as_json: bool) -> None:
    """The rulings, newest first, each as it was last corrected."""
    from rag.log import open_log

    keys = ("case", "turn", "revision", "time", "table", "board", "status", "question")
    found = open_log().find(text=text, table=table, limit=limit)
    _print_rows([{key: getattr(entry, key) for key in keys} for entry in found], keys, as_json)


@log.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    default="json",
    show_default=True,
    type=click.Choice(["json", "csv", "html", "gold"]),
    help="JSON lines, a table, a page to print for an appeals committee, or feedback as candidates for the gold set.",
)
@click.option("--case", "case_id", metavar="ID", help="Only this case; html needs one.")
@JSON
def log_export(file: Path, kind: str, case_id: str | None, as_json: bool) -> None:
    """Write the log, or one case of it, to a file."""
    from rag.files import write_file
    from rag.log import open_log
    from rag.log_export import csv_lines, json_lines
    from rag.log_gold import gold_candidates
    from rag.page.appeal import appeal_html

    if kind == "html" and case_id is None:
        raise click.UsageError("The page is about one case: name it with --case ID; see: tablelaw log list.")
    if kind == "gold" and case_id is not None:
        raise click.UsageError("Candidates for the gold set come from the whole log; leave --case out.")
    opened = open_log()
    entries = opened.case(case_id) if case_id is not None else opened.entries()
    if kind == "gold":
        write_file(file, (f"{line}\n" for line in gold_candidates(opened)))
    elif kind == "html":
        write_file(file, [appeal_html(tuple(entries))])
    else:
        write_file(file, csv_lines(entries) if kind == "csv" else json_lines(entries))
    if as_json:
        _print_json({"file": str(file), "format": kind, "case": case_id})


@log.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@JSON
def log_import(file: Path, as_json: bool) -> None:
    """Add what an export as JSON holds; what is here already is not added again."""
    from rag.log import open_log
    from rag.log_export import import_log

    added = import_log(open_log(), file)
    if as_json:
        _print_json({"added": added})
    else:
        click.echo(f"Added {added}.")


@log.command("delete")
@click.argument("case_id", metavar="CASE")
@JSON
def log_delete(case_id: str, as_json: bool) -> None:
    """Delete a case for good, from the log and from the cases that the page keeps."""
    from index import paths
    from rag.cases import CASES_FILE, delete_case
    from rag.log import open_log

    was_kept = delete_case(paths.data_dir() / CASES_FILE, case_id)
    deleted = open_log().delete(case_id)
    if not deleted and not was_kept:
        raise click.ClickException(f'There is no case "{case_id[:60]}"; see: tablelaw log list')
    if as_json:
        _print_json({"deleted": case_id, "revisions": deleted})
    else:
        click.echo(f"Deleted {case_id}.")


@cli.command("eval")
@click.option(
    "--gold", "files", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Gold rulings of your own."
)
@click.option("--split", default="dev", show_default=True, type=click.Choice(["train", "dev", "test"]))
@click.option("--mode", default="retrieval", show_default=True, type=click.Choice(["retrieval", "answers", "all"]))
@LLM
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the report there: Markdown, CSV, plots.")
@JSON
def evaluate_(files: tuple[Path, ...], split: str, mode: str, llm: str | None, out: Path | None, as_json: bool) -> None:
    """Measure search and answers on gold rulings; exit code 1 when something got worse than what was accepted."""
    try:
        from eval.run import evaluate
    except ImportError as error:
        raise click.ClickException(f'eval needs more libraries ({error}); run: pip install ".[eval]"') from error
    from eval.report import print_report, write_report
    from eval.test_runs import keep_test_run
    from rag.desk import open_desk

    with Bar("Measuring") as bar:
        desk = open_desk("none" if mode == "retrieval" else llm, err, bar.progress)
        report = evaluate(desk, files, split, mode, bar.progress)  # type: ignore[arg-type]
    if split == "test" and not files:
        keep_test_run(report)
    if out:
        write_report(report, out)
    if as_json:
        rates = [
            {"system": line.system, "questions": line.part, **{m: asdict(r) for m, r in line.rates.items()}}
            for line in report.lines
        ]
        _print_json(rates)
    else:
        print_report(report)
    if report.failed:
        raise click.ClickException("Something got worse than what was accepted: see FAIL above, or eval/expected.yaml.")


def main(argv: list[str] | None = None) -> None:
    """Run the command line; an error becomes one line on stderr and exit code 1 (2 for a wrong option)."""
    try:
        code = cli.main(argv, prog_name="tablelaw", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        err(" ".join(error.format_message().split()))
        sys.exit(error.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        err("Stopped.")
        sys.exit(130)
    except TablelawError as error:
        err(str(error))
        sys.exit(1)
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        err(f"Unexpected: {type(error).__name__}: {error}; run it again with {DEBUG_VARIABLE}=1 and report what it prints.")
        sys.exit(1)


def _one_of(question: str | None, lang: str, batch: Path | None, out: Path | None) -> None:
    """Check, before any model is loaded, that there is a question, or a batch, and not both."""
    from rag.question import read_question

    if batch is None and question is None:
        raise click.UsageError('Give a question, e.g. tablelaw ask "East led out of turn", or --batch IN --out OUT.')
    if (batch is None) != (out is None):
        raise click.UsageError("--batch and --out go together.")
    if batch is not None and question is not None:
        raise click.UsageError("Give a question or --batch, not both.")
    if question is not None:
        read_question(question, lang)


def _print_rows(rows: list[dict[str, Any]], columns: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        _print_json(rows)
    else:
        print_table(rows, columns)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
