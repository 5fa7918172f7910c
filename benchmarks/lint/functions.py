"""The rows of functions.txt."""

import dataclasses
import pathlib
import re

sides = ("NumPy", "JAX", "PyTorch")
# nax's namespaces and, for each side, its own; the longest first.
_names = [
    ("nax::special::", ("sp.", "jsp.", "torch.special.")),
    ("nax::linalg::", ("np.linalg.", "jnp.linalg.", "torch.linalg.")),
    ("nax::fft::", ("np.fft.", "jnp.fft.", "torch.fft.")),
    ("nax::nn::", ("", "jax.nn.", "F.")),
    ("nax::", ("np.", "jnp.", "torch.")),
]


@dataclasses.dataclass
class Function:
    name: str
    inputs: str
    gradient: bool
    nax: str
    peers: dict  # the expression of each side that has one


def _translated(expression, side):
    for ours, theirs in _names:
        expression = expression.replace(ours, theirs[side])
    return expression


def functions():
    found = []
    for line in (pathlib.Path(__file__).parent / "functions.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, inputs, nax, *peers = re.split(r" \| ", line)
        kind, *gradient = inputs.split()
        texts = [_translated(nax, side) if text == "." else text for side, text in enumerate(peers)]
        found.append(
            Function(name, kind, gradient == ["grad"], nax, {s: t for s, t in zip(sides, texts) if t != "-"})
        )
    return found
