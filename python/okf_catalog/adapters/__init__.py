"""The catalog where agent frameworks expect knowledge. Each module needs its own extra.

===================  ==============================  ==========================================
module               what it has                     ``pip install "okf-catalog[...]"``
===================  ==============================  ==========================================
``langchain``        ``OkfRetriever``                ``langchain``
``llama_index``      ``OkfRetriever``                ``llama-index``
===================  ==============================  ==========================================

A retriever asks a resolver and hands over passages as the framework's own documents::

    from okf_catalog import open_knowledge
    from okf_catalog.adapters.langchain import OkfRetriever

    with open_knowledge("catalog.json", default_strategy="merged") as knowledge:
        retriever = OkfRetriever(knowledge.resolver, scope=current_scope, limit=8)

On whose behalf it asks, it learns from the host alone: ``scope`` is fixed, or a function that the host gives.
No message, question or tool argument can name it.

Nothing here is imported by ``okf_catalog`` itself.
"""

from __future__ import annotations

__all__ = ["missing"]


def missing(module: str, package: str, extra: str) -> ImportError:
    """What an adapter raises when the package it adapts to is not installed."""
    return ImportError(f'okf_catalog.adapters.{module} needs {package}: pip install "okf-catalog[{extra}]"')
