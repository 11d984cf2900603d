"""A witness in words, for somebody who designs a mechanism and does not know the theory."""

from symdipa.interface.reports.story.patterns import Story, dependency, run_table, run_with_facts, story

__all__ = ["Story", "dependency", "run_table", "run_with_facts", "story"]
