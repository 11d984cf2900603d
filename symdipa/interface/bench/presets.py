"""The paper's table and its two scaling figures as sweeps, and the times that were published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from symdipa.interface.bench.machine import SOURCE
from symdipa.interface.bench.plan import BadSweep, Expected, Item, member, sizes
from symdipa.model.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Preset:
    """A sweep of ``examples`` (the paper's name, the file, its corollary bound or its pattern) and of
    ``members`` of families."""

    title: str
    members: tuple[tuple[str, str], ...]
    examples: tuple[tuple[str, str, str | Pattern], ...] = ()

    def items(self, folder: Path | None) -> list[tuple[Item, Path | None]]:
        """The items, with the file of each that is an example. Raises :class:`BadSweep`."""
        found: list[tuple[Item, Path | None]] = []
        where = examples(folder) if self.examples else Path()
        for name, file, known in self.examples:
            path = where / file
            if not path.is_file():
                raise BadSweep(f"the preset needs the example {file}, which is not in {where}")
            if isinstance(known, str):
                expected = Expected((), "private", known)
            else:
                expected = Expected((known.key,), "not-private")
            found.append((Item(name, file=file, expected=expected, published=name), path))
        for family, numbers in self.members:
            found += [(member(family, size), None) for size in sizes(numbers)]
        return found


def examples(folder: Path | None) -> Path:
    """The project's examples: ``folder``, or else the one beside the package or in this folder. Raises
    :class:`BadSweep` if there is none, as in an installed package."""
    places = [folder] if folder is not None else [SOURCE / "examples", Path.cwd() / "examples"]
    for place in places:
        if (place / "well_formed" / "svt.dipa").is_file():
            return place
    looked = " or ".join(map(str, dict.fromkeys(places)))
    raise BadSweep(
        f"the example files of symdipa are not in {looked}: they come with the source, not with the "
        "installed package; say with --examples FOLDER where they are"
    )


PRESETS: dict[str, Preset] = {
    "table1": Preset(
        "the paper's examples and the largest members of its families",
        (("k-minmax", "200"), ("m-range", "80")),
        (
            ("SVT", "well_formed/svt.dipa", "5/4"),
            ("Num-Sparse", "well_formed/num_sparse.dipa", "7/4"),
            ("DC-Example", "disclosing_cycle/dc_example.dipa", Pattern.DISCLOSING_CYCLE),
            ("Num-Range-1", "privacy_violating_path/num_range_1.dipa", Pattern.PRIVACY_VIOLATING_PATH),
            ("Num-Range-2", "well_formed/num_range_2.dipa", "5/4"),
            ("LC-Example", "leaking_cycle/lc_example.dipa", Pattern.LEAKING_CYCLE),
            ("Two-Range-1", "leaking_pair/two_range_1.dipa", Pattern.LEAKING_PAIR),
            ("Two-Range-2", "well_formed/two_range_2.dipa", "2"),
        ),
    ),
    "k-minmax": Preset("k-MinMax up to k = 200", (("k-minmax", "2,5,10,20:200:20"),)),
    "m-range": Preset("m-Range up to m = 80", (("m-range", "1,2,5,10:80:10"),)),
}


def files(names: Sequence[str]) -> list[tuple[str, Path]]:
    """The files that the arguments name, with their names in the results; a folder stands for all ``.dipa``
    files below it, in order of their names. Raises :class:`BadSweep`."""
    found: dict[Path, str] = {}
    for name in names:
        path = Path(name)
        if not path.is_dir():
            found.setdefault(path, name)
            continue
        inside = sorted(file for file in path.rglob("*.dipa") if file.is_file())
        if not inside:
            raise BadSweep(f"there is no .dipa file in the folder {name}")
        for file in inside:
            found.setdefault(file, str(file))
    return [(name, path) for path, name in found.items()]


# Published running times

DIPAUT_SOURCE = (
    "DiPAut: mean seconds in the authors' result files (reports/*_result.csv of github.com/bhusalb/DiPAut) "
    "for the paper by Chadha, Sistla, Viswanathan and Bhusal, CCS 2023; on a 1.4 GHz laptop"
)
CHECKDP_SOURCE = (
    "CheckDP: seconds as the same paper reports them; 'no result' is a time-out or out of memory, and where "
    "nothing stands no number is known to us"
)

_SIMPLE = {
    "SVT": "0.238", "Num-Sparse": "0.249", "DC-Example": "0.237", "Num-Range-1": "0.234",
    "Num-Range-2": "0.231", "LC-Example": "0.231", "Two-Range-1": "0.239", "Two-Range-2": "0.277",
}  # fmt: skip

_M_RANGE = {
    1: "0.227", 2: "0.225", 3: "0.242", 4: "0.234", 5: "0.258", 6: "0.300", 7: "0.354", 8: "0.392",
    9: "0.467", 10: "0.611", 11: "0.735", 12: "0.894", 13: "1.061", 14: "1.259", 15: "1.467", 16: "1.737",
    17: "2.085", 18: "2.470", 19: "2.911", 20: "3.469", 25: "7.332", 30: "13.466", 35: "22.775",
    40: "35.894", 45: "56.14", 50: "83.05", 55: "114.16", 60: "156.80", 65: "207.30", 70: "286.87",
    75: "402.43", 80: "506.33",
}  # fmt: skip

_K_MINMAX = {
    2: "0.220", 3: "0.220", 4: "0.223", 5: "0.223", 6: "0.226", 7: "0.227", 8: "0.228", 9: "0.230",
    10: "0.230", 11: "0.234", 12: "0.234", 13: "0.236", 14: "0.238", 15: "0.240", 16: "0.241", 17: "0.244",
    18: "0.246", 19: "0.247", 20: "0.248", 30: "0.264", 40: "0.282", 50: "0.299", 60: "0.317", 70: "0.335",
    80: "0.365", 90: "0.386", 100: "0.409", 110: "0.440", 120: "0.448", 130: "0.476", 140: "0.492",
    150: "0.515", 160: "0.540", 170: "0.565", 180: "0.583", 190: "0.609", 200: "0.643",
}  # fmt: skip

DIPAUT: dict[str, str] = {
    **_SIMPLE,
    **{f"m-range {n}": seconds for n, seconds in _M_RANGE.items()},
    **{f"k-minmax {n}": seconds for n, seconds in _K_MINMAX.items()},
}
"""Seconds by the published name of an item."""
CHECKDP: dict[str, str] = {
    "SVT": "30", "Num-Sparse": "52", "DC-Example": "44", "Num-Range-1": "316", "Num-Range-2": "1909",
    "LC-Example": "no result", "Two-Range-1": "no result", "Two-Range-2": "no result",
}  # fmt: skip
"""Seconds by the published name of an item. On which sizes of the families it was tried is not known."""
TOOLS = (("DiPAut", DIPAUT, DIPAUT_SOURCE), ("CheckDP", CHECKDP, CHECKDP_SOURCE))
