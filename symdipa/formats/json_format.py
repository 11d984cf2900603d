from symdipa.automaton import Automaton
from symdipa.formats.common import Parsed
def parse(text: str, strict: bool = False) -> Parsed: raise NotImplementedError
def write(automaton: Automaton) -> str: raise NotImplementedError
