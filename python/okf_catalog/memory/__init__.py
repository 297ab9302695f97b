"""Memory: what a host remembers, for each scope and tier.

``entry`` is what is written and ``results`` what is returned. ``store`` says what every store can do, and
``files`` has the one that keeps memories in the catalog's memory sources. ``paths`` and ``tiers`` say where
the memories of a scope are, and ``marks`` keeps them out of searches.
"""
