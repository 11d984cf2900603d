"""Engines: each decides one pattern of one automaton (:class:`symdipa.engines.base.Engine`)."""
