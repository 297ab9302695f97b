"""What a host opens: a catalog, a router and a memory together.

``opening`` has :func:`open_knowledge`, and ``knowledge`` has what it returns.
"""
