"""The catalog where agent frameworks expect knowledge. Each module needs its own extra.

===================  ==============================  ==========================================
module               what it has                     ``pip install "okf-catalog[...]"``
===================  ==============================  ==========================================
``agent_framework``  ``OkfContextProvider``          ``agent-framework``
``langchain``        ``OkfRetriever``                ``langchain``
``llama_index``      ``OkfRetriever``                ``llama-index``
``pydantic_ai``      ``OkfCapability``               ``pydantic-ai``
===================  ==============================  ==========================================

Context provider and capability put what a :class:`KnowledgeContextProvider` provides before a run's question,
and let it store what was said::

    from okf_catalog import KnowledgeContextProvider, open_knowledge
    from okf_catalog.adapters.agent_framework import OkfContextProvider

    with open_knowledge("catalog.json") as knowledge:
        provider = KnowledgeContextProvider(knowledge.resolver, scope_accessor=current_scope)
        agent = Agent(client, context_providers=[OkfContextProvider(provider)])

A retriever asks a resolver and hands over passages as the framework's own documents::

    from okf_catalog import open_knowledge
    from okf_catalog.adapters.langchain import OkfRetriever

    with open_knowledge("catalog.json", default_strategy="merged") as knowledge:
        retriever = OkfRetriever(knowledge.resolver, scope=current_scope, limit=8)

On whose behalf they ask, they learn from the host alone: a scope is fixed, or what a function of the host
says. No message, question or tool argument can name it.

Nothing here is imported by ``okf_catalog`` itself.
"""

from __future__ import annotations

__all__ = ["missing"]


def missing(module: str, package: str, extra: str) -> ImportError:
    """What an adapter raises when the package it adapts to is not installed."""
    return ImportError(f'okf_catalog.adapters.{module} needs {package}: pip install "okf-catalog[{extra}]"')
