"""The catalog: the manifest, its sources, and what a host can learn about them.

``source`` has the entries of a manifest and ``manifest`` parses it. ``catalog`` says what every kind of
catalog can do, and ``file`` has the one that is read from ``catalog.json``. Inside, ``handle`` connects a
catalog with its ``opened`` engine, and ``generation`` is one state of the manifest. ``report`` and
``remarks`` are what a host is told about files, ``log`` writes warnings, and ``limits`` and ``freshness`` are
options.
"""
