"""The checker of certificates (docs/certificates.md).

It shares no code with what makes certificates: it imports the automaton and the family of errors, nothing
else of symdipa, and every rule is written from the definitions anew. One pass over the certificate, exact
fractions.
"""

from symdipa.checker.check import Verified, verify
from symdipa.checker.claims import Claim, Inputs
from symdipa.checker.digest import digest
from symdipa.checker.rules import RULES, CertificateRefused

__all__ = ["RULES", "CertificateRefused", "Claim", "Inputs", "Verified", "digest", "verify"]
