"""The same functions as tools for assistants: MCP over streamable HTTP at ``/mcp``, by the official SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from index.errors import TablelawError
from rag.desk import Ask
from rag.page.api import in_thread
from rag.programs import Programs, law_json, procedure_json, procedures_json, rule_json
from rag.ruling import state_from_json

MCP_PATH = "/mcp"
INSTRUCTIONS = (
    "The Laws of Duplicate Bridge for tournament directors. Rulings come with the clauses that carry them; the Director rules "
    "(Law 81C). When an answer has status ask, put its question to the director, and call again with the fact."
)


class _Door:
    """Where requests to `MCP_PATH` go while the server runs."""

    def __init__(self) -> None:
        self.app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None, "the server has been started"
        await self.app(scope, receive, send)


def add_mcp(app: FastAPI, programs: Programs) -> None:
    """Add ``/mcp``, alive while the app is."""
    door, around = _Door(), app.router.lifespan_context
    app.router.routes.append(Route(MCP_PATH, door, methods=["GET", "POST", "DELETE"]))

    @asynccontextmanager
    async def lifespan(whole: FastAPI) -> AsyncIterator[Any]:
        from mcp.server.transport_security import TransportSecuritySettings

        server = _server(programs)
        # Hosts and origins are the guard's part. Nothing is kept between calls, so no session can fill the memory.
        trusting = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        door.app = server.streamable_http_app(
            streamable_http_path=MCP_PATH, json_response=True, stateless_http=True, transport_security=trusting
        )
        async with around(whole) as state, server.session_manager.run():
            yield state

    app.router.lifespan_context = lifespan


def _server(programs: Programs) -> Any:
    from mcp.server.mcpserver import MCPServer
    from mcp_types import ToolAnnotations

    server = MCPServer("tablelaw", instructions=INSTRUCTIONS, log_level="WARNING")
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @server.tool(annotations=reads)
    @_told
    async def ask(
        question: str,
        book: str | None = None,
        lang: str = "auto",
        facts: dict[str, str] | None = None,
        state: dict[str, Any] | None = None,
        llm: bool = True,
    ) -> dict[str, Any]:
        """What the law says about what happened at the table (English or Russian): a ruling with its clauses, or a question.

        `facts` are known facts by their ids; `state` is that of the answer before, to go on with the same case; without `llm`
        no language model is used and the law is quoted where no procedure rules.
        """
        asked = Ask(question, book, lang, facts or {}, state_from_json(state) if state else None)
        found = await in_thread(lambda stop: programs.ask(asked, llm, stop))
        assert found is not None, "who is gone gets no answer"
        return found

    @server.tool(annotations=reads)
    @_told
    async def search(q: str, k: int = 10, book: str | None = None, lang: str = "auto") -> dict[str, Any]:
        """Search the clauses of a law book: the `k` best, with their texts."""
        return await in_thread(lambda _: programs.search(Ask(q, book, lang), min(max(k, 1), 100)))

    @server.tool(annotations=reads)
    @_told
    async def law(clause: str, book: str | None = None) -> dict[str, Any]:
        """A Law or one clause with all below it, by its number: 27B1, Def:revoke."""
        return await in_thread(lambda _: law_json(clause, book or programs.book))

    @server.tool(annotations=reads)
    @_told
    async def rule(procedure: str, facts: dict[str, str] | None = None, lang: str = "en") -> dict[str, Any]:
        """Rule by a procedure with the facts known; status ask names the fact that must be known first."""
        return await in_thread(lambda _: rule_json(procedure, facts or {}, lang))

    @server.tool(annotations=reads)
    @_told
    async def procedures(procedure: str | None = None) -> dict[str, Any]:
        """All procedures with the Laws they rule by; or one of them whole, with the facts it asks."""
        if procedure:
            return await in_thread(lambda _: procedure_json(procedure))
        return {"procedures": await in_thread(lambda _: procedures_json())}

    return server


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """An error of ours reaches the assistant as its sentence."""

    @wraps(tool)
    async def call(*arguments: Any, **named: Any) -> Any:
        from mcp.server.mcpserver.exceptions import ToolError

        try:
            return await tool(*arguments, **named)
        except TablelawError as error:
            raise ToolError(str(error)) from error

    return call
