"""Running times that others have published. They were measured on other machines, none of them here."""

from __future__ import annotations

DIPAUT_SOURCE = (
    "DiPAut: mean seconds in the authors' result files (reports/*_result.csv of github.com/bhusalb/DiPAut) "
    "for the paper by Chadha, Sistla, Viswanathan and Bhusal, CCS 2023; on a 1.4 GHz laptop"
)
CHECKDP_SOURCE = (
    "CheckDP: seconds as the same paper reports them; 'no result' is a time-out or out of memory, and where "
    "nothing stands no number is known to us"
)

_SIMPLE = {
    "SVT": "0.238",
    "Num-Sparse": "0.249",
    "DC-Example": "0.237",
    "Num-Range-1": "0.234",
    "Num-Range-2": "0.231",
    "LC-Example": "0.231",
    "Two-Range-1": "0.239",
    "Two-Range-2": "0.277",
}

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
    "SVT": "30",
    "Num-Sparse": "52",
    "DC-Example": "44",
    "Num-Range-1": "316",
    "Num-Range-2": "1909",
    "LC-Example": "no result",
    "Two-Range-1": "no result",
    "Two-Range-2": "no result",
}
"""Seconds by the published name of an item. On which sizes of the families it was tried is not known."""

TOOLS = (("DiPAut", DIPAUT, DIPAUT_SOURCE), ("CheckDP", CHECKDP, CHECKDP_SOURCE))
