"""Every public function has a sentence and an example in the reference, a call in the tests and, if elementwise or a reduction, a line
in benchmarks/lint/functions.txt; and docs/coverage.md calls nothing missing that is there. A function of arrays, layers or control flow
whose code passes its name to a check, says which errors it throws; one whose result has another shape than its operands broadcast to, says
which shape.

unfinished.txt lists what is still without: "function: sentence example test lint errors shape". A function that is not on the list must have all,
and one that has something must not be listed for it, so that the list only shrinks. `functions_test.py --write` writes it anew.
"""

import importlib.util
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIST = HERE / "unfinished.txt"
HEAD = "# Public functions that are still without a sentence, an example, a test, a line of lint, their errors or shapes (functions_test.py).\n"
spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts/reference.py")
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)

MEASURED = {"numpy_elementwise", "numpy_reductions", "numpy_sorting", "special"}  # pages whose functions lint.sh measures
# Pages whose functions state their errors, and the folders in which these are thrown.
THROWING = {page: {"numpy"} for page, _, _ in reference.MODULES if page.startswith("numpy_") and page != "numpy_elementwise"}
THROWING |= {room: {room} for room in ("linalg", "fft", "lax", "nn", "special", "random", "optim")}
THROWING |= {room: {f"modules/{room}"} for room in ("stats", "optimize", "neighbours")}
THROWING |= {"numpy_elementwise": {"numpy/elementwise"}, "transform": {"transform", "parallel"}, "io": {"io", "modules/exporting"},
             "data": {"modules/data", "modules/storage", "modules/image"}}
# Functions that throw nothing: their names are passed to maps over one tree, or are those of others.
SAFE = {"optim::scale", "optim::clip", "optim::clip_by_block_rms", "optim::set_to_zero", "optim::apply_if_finite", "optim::centralize", "optim::zero_nans",
        "data::Dataset::size", "data::interleave", "data::Tokenizer::id", "data::Tokenizer::size"}
# Names that are labels: of fingerprints, of threads, of measured spans.
LABELS = re.compile(r'\b(?:add|stage_label|name_thread)\("\w+"|Span \w+\([^)]*\)')
ERRORS = re.compile(r"\b[Tt]hrows?\b|Error\b|\brefuse|\berrors?\b|not compile\b")

# ---- shapes

SHAPED = {page for page, *_ in reference.MODULES if page.startswith("numpy_")} | {"linalg", "fft", "lax", "nn", "special"}
# Headers of functions that work element by element: their results have the shape to which the operands broadcast.
ELEMENTWISE = ("numpy/elementwise/", "expr/expressions/operators.hpp", "special/", "nn/activations.hpp")
NOT_ELEMENTWISE = {"special::bessel_jn", "special::bernoulli", "nn::glu"}
# Reductions and scans over axes: a sentence that names the axis states the shape.
OVER_AXES = ("numpy/reductions/", "numpy/sorting/quantile.hpp", "lax/cumulative.hpp")
AXIS = re.compile(r"\b(?:over|along|without) (?:`axis`|(?:an|the|one|several)\b[^.]*\bax[ei]s\b)")
# Results that are no arrays, though the declaration says auto: facts about types, objects, what the caller's function returns.
NO_ARRAY = {"finfo", "iinfo", "as_eigen", "device_get", "device_put", "einsum_path", "nn::sequential", "lax::cond", "lax::switch_", "lax::while_loop", "lax::fori_loop", "lax::custom_linear_solve",
            "lax::custom_root", "nn::lstm_params", "nn::gru_params"}
EXTENT = r"(?:\.\.\.|\*?\w+\.{0,3}|\w+ [-+/] \w+(?: [-+] \w+)?|\w \w|(?:min|max)\(\w, \w\)(?: - min\(\w, \w\) \+ 1)?)"
SHAPE = re.compile(
    rf"(?<![\w)>`])\((?:\.\.\.|{EXTENT},|{EXTENT}(?:, {EXTENT})+)\)"  # (...), (n,), (..., m, n), (deg + 1, deg + 1); no call
    r"|\b(?:of|with|in|has|have|to|under) (?:the|(?:the )?`?\w+`?'s?|this|that|their|its|another) shapes?\b"  # of the shape of x, of x's shape
    r"|(?:^|[.:;] |[Tt]he result is |\b(?:[Aa]|is|as|into|new) )[0-3]-d(?: arrays?\b(?! on| of rows)|[.:;,])"  # a 0-d array
    r"|\bshape to which\b|\bn x [nm] matrix\b|\bas long as the longer\b|\b[Aa] new (?:first|leading|last) axis\b"
)
SAME_AS = re.compile(r"\bAs (\w+)(?:'s)?[.,;]")  # another function, whose sentence says it


COVERED = {"jax.numpy": "numpy_", "jax.numpy.linalg": "linalg", "jax.numpy.fft": "fft", "jax.random": "random", "jax.nn": "nn", "jax.lax": "lax"}


def words_in(paths):
    found = set()
    for path in paths:
        found.update(re.findall(r"\w+", path.read_text()))
    return found


def functions():
    """(page, full name, its comments, whether it is called with parameters, its header, the types that its declarations return)"""
    for page, _, parts in reference.MODULES:
        said, calls, headers, returns = {}, set(), {}, {}
        for header in reference.headers_of(parts):
            for entry in reference.parse(header)[0]:
                name = "".join(s + "::" for s in entry.scope) + entry.name
                said[name] = (said.get(name, "") + " " + " ".join(entry.comment)).strip()
                headers.setdefault(name, str(header.relative_to(reference.INCLUDE)))
                returns.setdefault(name, set()).add(entry.returns)
                if entry.parameters is not None:
                    calls.add(name)
        for name, comment in said.items():
            yield page, name, comment, name in calls, headers[name], returns[name]


def states_shape(name, comment, header, returns, known):
    """Whether the sentences but those about errors state the shape of the result, or need not."""
    is_array = any(not kind or "Array" in kind for kind in returns)
    if not is_array or name in NO_ARRAY or header.startswith(ELEMENTWISE) and name not in NOT_ELEMENTWISE:
        return True
    said = re.sub(r"(?:^|(?<=\. ))(?:Throws|Differentiable)\b[^.]*(?:\.\w[^.]*)*", "", comment)
    return bool(SHAPE.search(said) or any(other in known for other in SAME_AS.findall(said)) or header.startswith(OVER_AXES) and AXIS.search(said))


def names_passed(room):
    """Names that the code of a folder passes to checks, or begins errors with."""
    found = set()
    for path in (ROOT / "include/nax" / room).rglob("*.hpp"):
        code = LABELS.sub("", re.sub(r"(?m)//.*$|static_assert\([^;]*;", "", path.read_text()))
        found.update(re.findall(r'"(\w+)(?:"|: )', code))
    return found


def lacks():
    examples = reference.read_examples()
    tested = words_in(p for p in (ROOT / "tests").rglob("*") if p.suffix in (".cpp", ".hpp"))
    measured = words_in([ROOT / "benchmarks/lint/functions.txt"])
    result = {}
    thrown = {page: set().union(*map(names_passed, rooms)) for page, rooms in THROWING.items()}
    everything = list(functions())
    known = {name.split("::")[-1] for _, name, *_ in everything}
    for page, name, comment, is_call, header, returns in everything:
        short = name.split("::")[-1]
        missing = [] if comment else ["sentence"]
        if name not in examples:
            missing.append("example")
        if short not in tested:
            missing.append("test")
        if page in MEASURED and short not in measured:
            missing.append("lint")
        if is_call and short in thrown.get(page, ()) and name not in SAFE and not ERRORS.search(comment):
            missing.append("errors")
        if is_call and page in SHAPED and comment and not states_shape(name, comment, header, returns, known):
            missing.append("shape")
        if missing:
            result[name] = missing
    return result


def stale_coverage():
    """Names that docs/coverage.md calls missing, and that are public functions of nax."""
    module, there = None, {}
    for page, name, *_ in functions():
        there.setdefault(page, set()).add(name.split("::")[-1])
    for line in (ROOT / "docs/coverage.md").read_text().split("\n"):
        if m := re.match(r"## (\S+)$", line):
            module = m[1]
        elif (m := re.match(r"\| (\w+) \| - \|", line)) and module in COVERED:
            if any(m[1] in names for page, names in there.items() if page.startswith(COVERED[module])):
                yield f"docs/coverage.md: {module}.{m[1]} is called missing and is there"


def main():
    now = lacks()
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(HEAD + "".join(f"{name}: {' '.join(missing)}\n" for name, missing in sorted(now.items())))
        return
    listed = {}
    for line in LIST.read_text().split("\n"):
        if line and not line.startswith("#"):
            name, _, missing = line.partition(": ")
            listed[name] = missing.split()
    wrong = list(stale_coverage())
    for name in sorted(now.keys() | listed.keys()):
        for kind in ("sentence", "example", "test", "lint", "errors", "shape"):
            has_not, is_listed = kind in now.get(name, []), kind in listed.get(name, [])
            if has_not and not is_listed:
                wrong.append(f"{name}: has no {kind}")
            elif is_listed and not has_not:
                wrong.append(f"{name}: unfinished.txt lists it for its {kind}, which is there")
    if wrong:
        sys.exit("\n".join(wrong))


main()
