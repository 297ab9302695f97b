"""Adapters that connect a catalog to agent frameworks. Each module needs its own extra.

===================  ==============================  ==========================================
module               class                           ``pip install "okf-catalog[...]"``
===================  ==============================  ==========================================
``agent_framework``  ``OkfContextProvider``          ``agent-framework``
``langchain``        ``OkfRetriever``                ``langchain``
``llama_index``      ``OkfRetriever``                ``llama-index``
``pydantic_ai``      ``OkfCapability``               ``pydantic-ai``
===================  ==============================  ==========================================

The context provider and the capability put the message of a :class:`KnowledgeContextProvider` before the
question of a run, and afterwards let it store the exchange::

    from okf_catalog import KnowledgeContextProvider, open_knowledge
    from okf_catalog.adapters.agent_framework import OkfContextProvider

    with open_knowledge("catalog.json") as knowledge:
        provider = KnowledgeContextProvider(knowledge.resolver, scope_accessor=current_scope)
        agent = Agent(client, context_providers=[OkfContextProvider(provider)])

A retriever asks a resolver, and returns the passages as the framework's own documents. By default these are
sections of concepts, found with ``BM25F``::

    from okf_catalog import open_knowledge
    from okf_catalog.adapters.langchain import OkfRetriever

    with open_knowledge("catalog.json", default_strategy="merged") as knowledge:
        retriever = OkfRetriever(knowledge.resolver, scope=current_scope, limit=8)

The scope comes from the host only: it is fixed, or a function of the host returns it. No message, question
or tool argument can name it.

``okf_catalog`` itself imports none of these modules.
"""

from __future__ import annotations

__all__ = ["missing"]


def missing(module: str, package: str, extra: str) -> ImportError:
    """The exception of an adapter whose framework is not installed."""
    return ImportError(f'okf_catalog.adapters.{module} needs {package}: pip install "okf-catalog[{extra}]"')
