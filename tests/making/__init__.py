"""What tests make and ask, by noun. Each helper that two test files need stands here once.

- ``bundles`` writes directories of files; ``catalogs`` writes manifests and opens catalogs.
- ``visibility``: a catalog of which one source is for one tenant alone, and policies.
- ``memory``: catalogs with memories. ``leaks``: every way that memories come to lie where knowledge is read.
- ``asking`` asks resolvers and reads answers; ``model`` says answers in the words of the plain-Python model.
- ``providing`` asks context providers over resolvers and stores made by hand; ``frame`` reads their messages.
- ``changes``: a bundle whose files change while its catalog is open.
- ``commands`` runs the command line in this process; ``processes`` runs code in other processes.
- ``drawn`` and ``drawn_files`` are hypothesis strategies; ``profiles`` says how many examples are drawn.
- ``waiting`` waits with a deadline; ``clocks`` names instants; ``project`` names directories.
"""
