"""What a host remembers, per scope and per tier.

``entry`` is what is written and ``results`` what comes back, ``store`` is what every store can do, ``place``
says where a scope's memories lie, and ``files`` keeps them in the catalog's memory sources.
"""
