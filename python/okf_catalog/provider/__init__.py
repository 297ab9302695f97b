"""What an agent is given to read before it answers, and what is remembered of its answer.

``messages`` is what goes in and out; ``rotation`` says in which order passages are taken, ``frame`` how one
is written, ``budget`` how many there is room for, and ``provided`` what became of it; ``capture`` says what
is remembered, ``sessions`` on whose behalf. ``provider`` asks, spends and writes.
"""
