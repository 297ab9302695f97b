"""Asking: from a query to its answer.

``query`` is what a caller asks, with its ``staleness``, ``strategy``, ``scoring`` and ``unit``. ``policy``
and ``visibility`` say which sources it may see. ``question`` makes the engine's row out of a query and the
``defaults`` of the host. ``resolver`` asks the engine, ``resolvers`` has one class for each strategy, and
``context``, ``batch`` and ``stream`` are the answers.
"""
