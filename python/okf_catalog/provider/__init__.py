"""The context provider: what an agent reads before it answers, and what is remembered of its answer.

``provider`` has the public class, and ``settings`` its checked arguments. For each message, ``rewriting``
words the question, ``gathering`` asks the resolver and the memory store, and ``composing`` makes the message
out of the passages they find: ``rotation`` orders the passages, ``frame`` and ``neutral`` write each as a
block, ``budget`` and ``side`` fit the blocks into the token budget, and ``context`` is the result. Afterwards
``recording`` writes the exchange to memory as ``capture`` phrases it. ``scope`` and ``sessions`` say for
whom, and ``failures`` reports what goes wrong inside. ``messages`` are what goes in and out.
"""
