"""Formulas in plain characters: LaTeX as models write it, turned into a line that can be read.

Apart from the Markdown because it is a table of signs and three rules, nothing more.
"""

from __future__ import annotations

import re

_SIGNS = {
    "times": "\u00d7", "cdot": "\u00b7", "div": "\u00f7", "pm": "\u00b1",
    "le": "\u2264", "leq": "\u2264",
    "ge": "\u2265", "geq": "\u2265", "ne": "\u2260", "neq": "\u2260", "approx": "\u2248",
    "equiv": "\u2261", "sim": "~", "infty": "\u221e", "sum": "\u2211", "prod": "\u220f",
    "int": "\u222b", "partial": "\u2202", "in": "\u2208", "notin": "\u2209", "subset": "\u2282",
    "cup": "\u222a", "cap": "\u2229", "forall": "\u2200", "exists": "\u2203", "to": "\u2192",
    "rightarrow": "\u2192", "Rightarrow": "\u21d2", "leftarrow": "\u2190", "land": "\u2227",
    "lor": "\u2228", "neg": "\u00ac", "ldots": "\u2026", "dots": "\u2026", "cdots": "\u22ef",
    "alpha": "\u03b1", "beta": "\u03b2", "gamma": "\u03b3", "delta": "\u03b4", "Delta": "\u0394",
    "epsilon": "\u03b5", "lambda": "\u03bb", "mu": "\u03bc", "pi": "\u03c0", "rho": "\u03c1",
    "sigma": "\u03c3", "Sigma": "\u03a3", "tau": "\u03c4", "theta": "\u03b8", "omega": "\u03c9",
    "Omega": "\u03a9", "phi": "\u03c6", "lceil": "\u2308", "rceil": "\u2309", "lfloor": "\u230a",
    "rfloor": "\u230b", "log": "log", "ln": "ln", "max": "max", "min": "min", "quad": "  ",
    "left": "", "right": "", "displaystyle": "",
}  # fmt: skip
_RAISED = str.maketrans(
    "0123456789+-n",
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207f",
)
_LOWERED = str.maketrans(
    "0123456789+-", "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089\u208a\u208b"
)
_WORDS = re.compile(r"\\(?:text|mathrm|mathbf|mathit|operatorname)\s*\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_POWER = re.compile(r"\^(?:\{([0-9+\-n]+)\}|([0-9n]))")
_INDEX = re.compile(r"_(?:\{([0-9+\-]+)\}|([0-9]))")
_COMMAND = re.compile(r"\\([A-Za-z]+)")


def readable(formula: str) -> str:
    r"""A formula as one line: `\frac{a}{b} \times 2^{10}` becomes `(a)/(b) × 2¹⁰`."""
    text = _WORDS.sub(r"\1", formula)
    for _ in range(4):  # fractions within fractions, from the inside out
        text = _ROOT.sub("\u221a(\\1)", _FRACTION.sub(_over, text))
    text = _POWER.sub(lambda m: (m.group(1) or m.group(2)).translate(_RAISED), text)
    text = _INDEX.sub(lambda m: (m.group(1) or m.group(2)).translate(_LOWERED), text)
    text = _COMMAND.sub(lambda m: _SIGNS.get(m.group(1), m.group()), text)
    text = text.replace("\\,", " ").replace("\\;", " ").replace("\\%", "%").replace("\\\\", "  ")
    return " ".join(text.split())


def _over(match: re.Match[str]) -> str:
    above, below = (
        part if re.fullmatch(r"[\w.]+", part) else f"({part})" for part in match.groups()
    )
    return f"{above}/{below}"
