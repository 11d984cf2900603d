"""The front end for Python: mechanisms are functions that draw noise and yield outputs."""

from symdipa.programs.python.mechanism import Mechanism, mechanism
from symdipa.programs.python.noise import exponential, laplace

__all__ = ["Mechanism", "exponential", "laplace", "mechanism"]
