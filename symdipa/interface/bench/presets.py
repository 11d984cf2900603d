"""The paper's table, its two scaling figures, and published mechanisms as sweeps, and published times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from symdipa.interface.bench.machine import SOURCE
from symdipa.interface.bench.plan import BadSweep, Expected, Item, member, sizes
from symdipa.model.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Preset:
    """A sweep of ``examples`` (the paper's name, the file, its corollary bound or its pattern), of
    ``members`` of families, and of ``programs`` (the file and the function, the D that is claimed, the D that
    there is; ``None``: there is none). ``engines`` are those that it is usually run with."""

    title: str
    members: tuple[tuple[str, str], ...]
    examples: tuple[tuple[str, str, str | Pattern], ...] = ()
    programs: tuple[tuple[str, str | None, str | None], ...] = ()
    engines: tuple[str, ...] | None = None

    def items(self, folder: Path | None, peer: Path | None = None) -> list[tuple[Item, Path | None]]:
        """The items, with the file of each that is an example or a program. Raises :class:`BadSweep`."""
        found: list[tuple[Item, Path | None]] = []
        where = examples(folder) if self.examples or self.programs else Path()
        for name, claim, least in self.programs:
            file, _, program = name.partition(":")
            item = Item(name, file=f"programs/{file}", program=program, claim=claim, expected=_known(least))
            found.append((item, where / "programs" / file))
        if self.programs and peer is not None:
            found += peers(peer)
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


def peers(folder: Path) -> Iterator[tuple[Item, Path]]:
    """The C files of CheckDP and ShadowDP, each without parameters and with ``FIVE``. Raises
    :class:`BadSweep`."""
    for tool, places, mechanisms in PEERS:
        there = [where for place in places if (where := folder.joinpath(tool, *place)).is_dir()]
        if not there:
            raise BadSweep(
                f"there is no folder {folder / tool}: --peer wants one with a clone of {tool} in it"
            )
        for name, claim, *leasts in mechanisms:
            path = there[0] / f"{name}.c"
            if not path.is_file():
                raise BadSweep(f"the preset needs the file {name}.c of {tool}, which is not in {there[0]}")
            text = path.read_text(encoding="utf-8", errors="replace")
            five = tuple(each for each in FIVE if re.search(rf"\b{each.partition('=')[0]}\b", text))
            for settings, least in zip(((), five), leasts, strict=True):
                key = " ".join([f"{tool}/{name}", *settings])
                item = Item(key, file=f"{tool}/{name}.c", settings=settings, claim=claim)
                yield replace(item, expected=_known(least)), path


def _known(least: str | None) -> Expected:
    """What is known of a mechanism with this D, or without one."""
    return Expected(None, "private" if least is not None else "not-private", least=least)


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


MECHANISMS: tuple[tuple[str, str | None, str | None], ...] = (
    ("sparse_vector.py:svt", "1", "1"),
    ("sparse_vector.py:without_cutoff", "1", None),
    ("sparse_vector.py:without_query_noise", "1", None),
    ("sparse_vector.py:threshold_shown", "1", None),
    ("gaps.py:gap_svt", "1", "1"),
    ("gaps.py:answer_shown", "1", None),
    ("gaps.py:fresh_answer", "1", "1"),
    ("adaptive.py:adaptive_svt", None, "3/4"),
    ("adaptive.py:adaptive_for_ever", None, None),
    ("noisy_max.py:noisy_max", "1", "1"),
    ("noisy_max.py:with_its_value", None, "3/2"),
    ("noisy_max.py:one_sided", "1", "1"),
    ("noisy_max.py:first_shown", None, None),
    ("sums.py:total", "1", "1"),
    ("sums.py:prefix_sums", "1", "1"),
    ("sums.py:smart_sum", "2", "2"),
    ("sums.py:fresh_noise_on_everything", "1", None),
    ("sums.py:block_without_noise", "2", None),
    ("histogram.py:histogram", "1", "1"),
    ("histogram.py:every_bin_differs", "1", "5"),
    ("histogram.py:large_bins_only", None, "1"),
    ("histogram.py:empty_bins_shown", None, None),
    ("single_numbers.py:larger", None, "1"),
    ("single_numbers.py:mean", None, "1"),
    ("single_numbers.py:released_once", None, "1"),
    ("single_numbers.py:released_twice", None, "2"),
    ("ranges.py:inside", None, "1"),
    ("ranges.py:deviation", None, "1/2"),
    ("ranges.py:inside_for_ever", None, None),
    ("alarm.py:alarm_once", None, "1"),
    ("alarm.py:redrawn", None, "1/2"),
    ("alarm.py:alarm_for_ever", None, None),
    ("watch.py:every_other", None, None),
    ("watch.py:every_other_of_a_window", None, "1"),
    ("watch.py:above_five", None, "1"),
)
"""The programs in ``examples``: what publications claim of the mechanism (of a wrong one that of the right
one), and D."""

FIVE = ("size=5", "NN=1")
"""The parameters with which the C files are run, too."""

_SAME = "1", "1", "1"
"""The claim, and D without and with parameters, of most of them."""
PEERS: tuple[tuple[str, tuple[tuple[str, ...], ...], tuple[tuple[str | None, ...], ...]], ...] = (
    (
        "checkdp",
        (("examples",), ()),
        (
            ("sparsevector", *_SAME),
            ("svt_increasing", *_SAME),
            ("svt_decreasing", *_SAME),
            ("numsparsevector", *_SAME),
            ("gapsparsevector", *_SAME),
            ("adaptivesparsevector", *_SAME),
            ("noisymax", "1", "0", "1"),
            ("partialsum", "1", "0", "1"),
            ("smartsum", "2", "2", "2"),
            ("badsparsevector1", "1", None, None),
            ("badsparsevector2", "1", None, "5/2"),
            ("badsparsevector3", "1", "7/4", "7/4"),
            ("badgapsparsevector", "1", None, "5/4"),
            ("badadaptivesparsevector", "1", None, "13/8"),
            ("badnoisymax", "1", "0", "5/2"),
            ("badpartialsum", "1", "0", "2"),
            ("badsmartsum", "2", None, None),
        ),
    ),
    (
        "shadowdp",
        (("examples", "original"), ()),
        (
            ("sparsevector", *_SAME),
            ("sparsevectorN", *_SAME),
            ("numsparsevector", *_SAME),
            ("numsparsevectorN", *_SAME),
            ("gapsparsevector", *_SAME),
            ("noisymax", "1", "0", "1"),
            ("partialsum", "1", "0", "1"),
            ("prefixsum", *_SAME),
            ("smartsum", "2", "2", "2"),
        ),
    ),
)
"""The C files: the tool, where its clone has them, and of each the claim, and D without and with ``FIVE``."""

CLAIMS = (
    "Claimed: the D that publications claim; of a wrong mechanism, what is claimed of its right twin",
    "D = 0: shows nothing, since without size the stream has no end",
    "Published, not measured here, on other machines: CheckDP takes up to 70 seconds for a mechanism, and "
    "ShadowDP up to 3 (abstracts of their papers, CCS 2020 and PLDI 2019); no column has the times of single "
    "files, which are not known to us",
)
"""What stands below the table of mechanisms."""

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
    "mechanisms": Preset("published mechanisms as programs", (), programs=MECHANISMS, engines=("auto",)),
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


def named(name: str, path: Path, settings: Sequence[str] = ()) -> tuple[Item, Path]:
    """The item and the file of an argument, which may name a function, ``svt.py:svt``, with settings.

    Raises :class:`BadSweep` for settings of what is no program.
    """
    from symdipa.programs.loading import is_program, split

    file, program = split(str(path))
    if settings and not is_program(str(path)):
        raise BadSweep(f"--set is for programs, and {name} is none")
    key = " ".join([name, *settings])
    return Item(key, file=file, program=program, settings=tuple(settings)), Path(file)


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
