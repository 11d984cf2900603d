"""Two adjacent inputs and an output event that refute a claimed ``D`` in numbers (Def. refutation).

The construction follows Thm. B. For one run, the best log-ratio per ``eps`` of two adjacent inputs is
``c(s)``, where a maximum flow yields the sign of each input step. The witness's cycles are taken
``l`` times; the mean of every input step is moved by ``t`` to one side (``alpha``), then by one more
(``beta``). The ratio of the run's probabilities tends to ``c(s)`` from below as ``t`` grows, and ``c(s)``
grows without bound with ``l``. Every number comes with the error that its computation bounds, and a ratio
above ``c(s)``, which would refute the computation, is never returned. In the wider model inputs lie along a
ray in the same way (:mod:`symdipa.evidence.refutation.rays`).
"""

from symdipa.evidence.refutation.outcome import Growth, NoRefutation, Refutation
from symdipa.evidence.refutation.search import refute

__all__ = ["Growth", "NoRefutation", "Refutation", "refute"]
