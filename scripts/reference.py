#!/usr/bin/env python3
"""Writes docs/reference: a page a module, from what the public headers say of their functions.

    python3 scripts/reference.py           # after a change of a public header, or of an example
    python3 scripts/reference.py --check   # exit status 1 where the pages are not what they would be

A function's entry is the comment above it, its parameters, its options with their defaults, and an example out of
scripts/reference_examples.txt, whose printed result the tests check as they check all code in docs.

The headers are read line by line. That suffices because clang-format gives them one form: a declaration of a namespace begins in
column 1, and every namespace ends in a comment with its name.
"""

import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include/nax"
PAGES = ROOT / "docs/reference"

# page, title, folders or headers of include/nax
MODULES = [
    ("numpy_elementwise", "Elementwise functions", ["numpy/elementwise", "expr/expressions/operators.hpp"]),
    ("numpy_creation", "Creating and converting arrays", ["numpy/creation", "numpy/conversion"]),
    ("numpy_manipulation", "Shapes, joining and splitting", ["numpy/manipulation", "numpy/padding", "numpy/views"]),
    ("numpy_indexing", "Indexing", ["numpy/indexing", "numpy/grids", "numpy/updates"]),
    ("numpy_reductions", "Reductions, scans and statistics", ["numpy/reductions", "numpy/statistics"]),
    ("numpy_sorting", "Sorting, searching, sets", ["numpy/sorting", "numpy/sets"]),
    ("numpy_products", "Products", ["numpy/products"]),
    ("numpy_sequences", "Sequences, polynomials, windows", ["numpy/sequences", "numpy/polynomials", "numpy/windows"]),
    ("linalg", "nax::linalg", ["linalg"]),
    ("fft", "nax::fft", ["fft"]),
    ("special", "nax::special", ["special"]),
    ("stats", "nax::stats", ["modules/stats"]),
    ("random", "nax::random", ["random"]),
    ("transform", "Transforms and collectives", ["transform", "parallel/collectives.hpp", "parallel/pmap.hpp",
                                                 "parallel/replicated.hpp", "expr/expressions/debug_nans.hpp"]),
    ("lax", "nax::lax", ["lax"]),
    ("tree", "nax::tree", ["tree"]),
    ("nn", "nax::nn", ["nn"]),
    ("optim", "nax::optim", ["optim"]),
    ("optimize", "nax::optimize", ["modules/optimize"]),
    ("integrate", "nax::integrate", ["modules/integrate"]),
    ("mcmc", "nax::mcmc", ["modules/mcmc"]),
    ("interpolate", "nax::interpolate", ["modules/interpolate"]),
    ("signal", "nax::signal", ["modules/signal"]),
    ("io", "nax::io", ["io", "modules/exporting"]),
    ("data", "nax::data, nax::storage, nax::image", ["modules/data", "modules/arrow", "modules/storage/storage.hpp", "modules/image"]),
    ("neighbours", "nax::neighbours", ["modules/neighbours"]),
    ("devices", "Devices, processes, profiler", ["core/devices.hpp", "core/device.hpp", "core/transfer.hpp", "core/matmul_precision.hpp",
                                                  "core/print_options.hpp", "core/allocator.hpp", "parallel/distributed.hpp", "modules/profiler"]),
]

# Errors that an entry does not repeat.
ERRORS = """## Errors

Errors are subclasses of `nax::Error`, and their texts begin with the name of the function. An entry states the errors of its arguments.
These are thrown by every function that takes arrays:

| error | thrown for |
| --- | --- |
| `ShapeError` | operands whose shapes do not broadcast |
| `DeviceError` | operands on different devices; arrays on a GPU where the function or the type has no form for it |
| `ValueError` | an array that was moved from, or that belongs to a `vmap` that has ended; a result that is too big |
| `Error` | a result that the memory of the host does not hold (`DeviceError` on a GPU) |""".split("\n")

# Classes whose public methods have entries, too.
CLASSES = {"Dataset", "Iterator", "Position", "Sample", "Example", "ImageFolder", "Scope", "Tokenizer"}

# Classes that have an entry, without their methods: the modules.
MODULE_CLASSES = {
    "Linear", "Conv", "ConvTranspose", "PReLU", "Embedding", "EmbeddingBag", "Dropout", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm",
    "BatchNorm", "RNN", "LSTM", "GRU", "Bidirectional", "Stacked", "MultiHeadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer",
    "WeightNorm", "SpectralNorm", "LoRA", "MoE", "Sequential", "Upsample", "PixelShuffle", "AdaptiveAvgPool", "AdaptiveMaxPool"}

# parameters None: of a class; returns: the type that the declaration names, "" for auto and void
Entry = collections.namedtuple("Entry", "name scope parameters comment header returns", defaults=("",))
Options = collections.namedtuple("Options", "fields comment")


def headers_of(parts):
    for part in parts:
        path = INCLUDE / part
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*.hpp") if not p.name.endswith("-inl.hpp"))
        elif path.is_file():
            yield path


def split_top(text, separator=","):
    """Splits at separators that are in no bracket and no character."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if text[i : i + 2] == "<<" or text[i - 1 : i + 1] == "<<":
            continue
        if c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
        elif c == separator and depth == 0 and text[i - 1 : i + 2] != f"'{separator}'":
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def closing(text, start):
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for i in range(start, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    return -1


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def parse_fields(body):
    """The members of an options struct: type, name, default, comment."""
    fields, above, begun = [], [], ""
    for line in body.split("\n"):
        code, _, comment = line.partition("//")
        code = f"{begun} {code.strip()}".strip()
        if not code:
            above = above + [comment.strip()] if comment else []
            continue
        whole = code.endswith((";", "{", "}")) and not re.fullmatch(r"[\w:<>,\s*&]+ \w+ = [^;]*\}", code)
        begun = "" if whole else code  # a declaration may go on
        if begun:
            above = above + [comment.strip()] if comment else above
            continue
        m = re.match(r"([\w:<>,\s*&]+?)\s+(\w+)\s*(?:=\s*(.*)|(\{.*\}))?;$", code)
        if m and not code.startswith(("using", "template", "return", "static", "friend")):
            text = " ".join(above + [comment.strip()]).strip()
            for one in split_top(code[m.start(2) : -1]):  # `double rtol = 1e-5, atol = 1e-8;`
                name, default = re.match(r"(\w+)\s*(?:=\s*)?(.*)$", one).groups()
                if default == "{}" and m[1].startswith("std::optional"):
                    default = "none"
                fields.append((m[1], name, default, text))
        above = []
    return fields


def parse(header):
    """The public functions of a header, and its options."""
    lines = header.read_text().split("\n")
    entries, options, scope, comment = [], {}, [], []
    i = 0
    while i < len(lines):
        line = lines[i]
        if m := re.match(r"(inline )?namespace ?(.*?) ?\{$", line):
            scope.append("" if m[1] else m[2] or "(anonymous)")  # names of inline namespaces are not written
            comment = []
        elif line in ("NAX_BEGIN", "NAX_END"):
            comment = []
        elif line.startswith("}  // namespace"):
            if scope:
                scope.pop()
            comment = []
        elif line.startswith("//"):
            text = line[2:].strip()
            if "clang-format" not in text:
                comment.append(text)
        elif not line.strip():
            comment = []
        elif line.startswith(("#", "}", " ", "using", "extern", "friend")) or re.fullmatch(r"[A-Z_]+\(.*\)", line):
            pass  # the latter is a macro's call, without a semicolon
        else:
            hidden = any(part in ("detail", "rules", "(anonymous)") for s in scope for part in s.split("::"))
            j = i
            text = line
            # a declaration goes on until its body or its semicolon
            while j + 1 < len(lines) and not re.search(r"[{;]\s*(//.*)?$|\}$|\};$", without_comments(text).rstrip()):
                j += 1
                text += "\n" + lines[j]
            end = j
            if without_comments(text).rstrip().endswith("{"):
                while end + 1 < len(lines) and not lines[end].startswith("}"):
                    end += 1
            body = "\n".join(lines[j + 1 : end])
            if not hidden:
                declare(text, body, [s for s in scope if s], comment, header, entries, options)
            i, comment = end, []
        i += 1
    return entries, options


def parts_of(scope):
    """The namespaces of a scope, one by one."""
    return tuple(part for s in scope for part in s.split("::"))


def declare(text, body, scope, comment, header, entries, options):
    code = re.sub(r'\[\[\w+\]\] |NAX_RESULT\("[^"]*"\) ', "", " ".join(without_comments(text).split()))
    code = re.sub(r"^template <.*?> (?=(requires|auto|struct|class|inline|NAX|constexpr|[A-Z]|std|void|bool))", "", code)
    if m := re.match(r"(?:struct|class) (\w*Options)\b", code):
        options[parts_of(scope), m[1]] = Options(parse_fields(body or text), comment)
        return
    if (m := re.match(r"(struct|class) (\w+)\b[^;]*$", code)) and m[2] in CLASSES:
        entries.append(Entry(m[2], scope, None, comment, header))
        declare_members(m[1], body, scope + [m[2]], header, entries, options)
        return
    if (m := re.match(r"(?:struct|class) (\w+)\b[^;]*$", code)) and m[1] in MODULE_CLASSES:
        prose = [line for line in comment if line and not re.search(r";\s*(//.*)?$", line)]
        entries.append(Entry(m[1], scope, None, prose, header))
        return
    if m := re.match(r"(?:inline )?constexpr (?:const )?(?:nax::)?detail::([\w:<>, ]+?) (\w+)\s*(?:\{\}|=|,|;)", code):
        # an object that is called: its class names its options
        kind = re.findall(r"\w+", m[1])[-1]
        text = header.read_text()
        if base := re.search(rf"struct {kind} : \w+<(\w+)>", text):
            kind = base[1]
        found = re.search(rf"struct {kind}\b[^;]*?\{{\s*using Options = (?!NoOptions)(\w+);", text)
        parameters = ["auto arrays"] + ([f"{found[1]} options"] if found else [])
        for name in re.findall(r"(\w+)(?:\{\}|;| =)", code[m.start(2) :]):
            entries.append(Entry(name, scope, parameters, comment, header))
        return
    code = code.replace("decltype(auto)", "auto")
    code = re.sub(r"^requires ?.*? (?=auto |\w+<?[\w:, ]*>? \w+\()", "", code)
    m = re.match(r"(?:inline |NAX_ENGINE |NAX_COMPILED_ONCE |constexpr )*([\w:<>,\s&*]+?[\s&*])(\w+)\(", code)
    if not m or m[2].startswith("operator") or m[1].split()[0] in ("struct", "class", "using", "return", "enum"):
        return
    stop = closing(code, m.end() - 1)
    if stop < 0 or "detail" in m[2]:
        return
    parameters = split_top(code[m.end() : stop])
    if any("Recorded<" in p for p in parameters):  # what derivatives say
        return
    entries.append(Entry(m[2], scope, parameters, comment, header, returned(m[1])))


def returned(kind):
    """The type of a result as a reader writes it."""
    kind = re.sub(r"^requires\b.*[)>] (?=\w)|^[^<]*> |^template <[^<>]*> |NAX_ENGINE_HERE |\b(?:typename|inline|static|const|constexpr)\b |&|\bnax::|\bstd::(?=u?int\d)", "", kind).strip()
    return "" if re.search(r"\bauto\b|\bvoid\b|decltype|detail::|requires", kind) else kind


def declare_members(kind, body, scope, header, entries, options):
    """The public methods of a class that a comment speaks of; its body is indented by two columns."""
    public, comment, found = kind == "struct", [], []
    lines = body.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        if re.match(r" (public|private|protected):", line):
            public, comment = "public" in line, []
        elif line.startswith("  //"):
            comment.append(line[4:].strip())
        elif not re.match(r"  \S", line):
            comment = [] if not line.strip() else comment
        else:
            j, text = i, line
            while j + 1 < len(lines) and not re.search(r"[{;]\s*(//.*)?$|\}$|\};$", without_comments(text).rstrip()):
                j += 1
                text += "\n" + lines[j]
            if without_comments(text).rstrip().endswith("{"):
                while j + 1 < len(lines) and not lines[j].startswith("  }"):
                    j += 1
            if public and not re.match(r"  (using|friend|struct|class|static)\b", line):
                declare(text, "", scope, comment, header, found, options)
            i, comment = j, []
        i += 1
    spoken_of = {e.name for e in found if e.comment}
    entries.extend(e for e in found if e.name in spoken_of)


def shown(parameter):
    """A parameter as it is read: its name, with its type where that is no array or callable."""
    parameter, _, default = parameter.partition(" = ")
    m = re.match(r"(.*?)[\s&*.]*\b(\w+)$", parameter)
    if not m:
        return parameter, default
    kind, name = m[1], m[2].rstrip("_")
    kind = re.sub(r"\bconst\b|&|std::type_identity_t|\bauto\b", "", kind).strip()
    if "..." in parameter:
        name += "..."
    plain = not kind or re.fullmatch(r"[A-Z]\w?|Array<\w+>|F|Function|Callable|[A-Z][a-z]*\.*", kind) and kind not in ("Shape", "Axis", "Key", "Dims")
    return (name if plain else f"{kind} {name}"), default


def options_of(parameter, scope, options):
    """The options that a parameter of a function in this scope names: those of the innermost namespace that has them."""
    m = re.search(r"((?:\w+::)*)(\w*Options)\b", parameter)
    if not m:
        return None
    said = [s for s in m[1].split("::") if s and s != "nax"]
    scope = parts_of(scope)
    for depth in range(len(scope), -1, -1):
        if found := options.get((scope[:depth] + tuple(said), m[2])):
            return found
    return None


def call_of(entry, options):
    prefix = "".join(s + "::" for s in entry.scope)
    parts = []
    for p in entry.parameters:
        if found := options_of(p, entry.scope, options):
            fields = ", ".join("." + f[1] for f in found.fields)
            parts.append("{" + fields + "}")
        else:
            text, default = shown(p)
            parts.append(text + (f" = {default}" if default else ""))
    arrow = f" -> {entry.returns}" if entry.returns else ""
    return f"{prefix}{entry.name}({', '.join(parts)}){arrow}"


def read_examples():
    """`== name`, lines of code, `--`, the lines they print: (code, printed, the word behind the name or none)."""
    examples, name, code, printed, part = {}, None, [], [], None
    path = ROOT / "scripts/reference_examples.txt"
    for line in path.read_text().split("\n") if path.exists() else []:
        if line.startswith("== "):
            if name:
                examples[name] = (code, printed)
            name, code, printed = line[3:].strip(), [], []
            part = code
        elif line == "--":
            part = printed
        elif part is not None:
            part.append(line)
    if name:
        examples[name] = (code, printed)
    result = {}
    for heading, (code, printed) in examples.items():
        name, _, mark = heading.partition(" ")
        while printed and not printed[-1]:
            printed.pop()
        result[name] = ([x for x in code if x], printed, mark)
    return result


def page_of(title, entries, options, examples, used):
    out = [f"# {title}", "", "Made by `scripts/reference.py` from the headers' comments: change those.", ""]
    by_name = collections.OrderedDict()
    for e in entries:
        by_name.setdefault("".join(s + "::" for s in e.scope) + e.name, []).append(e)
    names = sorted(by_name, key=lambda n: (n.split("::")[-1].lower(), n))
    # nn::Conv and nn::conv would have one anchor
    headings = {n: n + " (module)" if n.split("::")[-1] in MODULE_CLASSES else n for n in names}
    out += [" ".join(f"[{n.split('::')[-1]}](#{anchor(headings[n])})" for n in names), ""]
    for name in names:
        group = by_name[name]
        out += [f"## {headings[name]}", ""]
        calls = list(dict.fromkeys(call_of(e, options) for e in group if e.parameters is not None))
        if calls:
            out += ["```cpp sketch", *calls, "```", ""]
        said = list(dict.fromkeys(" ".join(e.comment) for e in group if e.comment))
        for text in said:
            out += [text, ""]
        wanted = []
        for found in (options_of(p, e.scope, options) for e in group for p in e.parameters or []):
            if found and found not in wanted:
                wanted.append(found)
        for found in wanted:
            if found.fields:
                out += ["| option | default | |", "| --- | --- | --- |"]
                out += [f"| `.{f[1]}` | {'`' + f[2] + '`' if f[2] else ''} | {f[3]} |" for f in found.fields] + [""]
        if name in examples:
            code, printed, mark = examples[name]
            used.add(name)
            out += [f"```cpp {mark}".rstrip(), *code, "```"]
            out += ["```text", *printed, "```", ""] if printed else [""]
        out += [f"`#include <nax/{group[0].header.relative_to(INCLUDE)}>`", ""]
    return "\n".join(out)


def anchor(name):
    return re.sub(r"[^\w\- ]", "", name).lower().replace(" ", "-")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--check", action="store_true", help="write nothing, compare")
    arguments = arguments.parse_args()

    examples, used, pages, index = read_examples(), set(), {}, []
    everything = [(page, title, [parse(h) for h in headers_of(parts)]) for page, title, parts in MODULES]
    options = {name: o for _, _, parsed in everything for _, found in parsed for name, o in found.items()}
    for page, title, parsed in everything:
        entries = [e for found, _ in parsed for e in found]
        if entries:
            pages[page] = page_of(title, entries, options, examples, used)
            names = sorted({e.name for e in entries}, key=lambda n: (n.lower(), n))
            index.append(f"- [{title}]({page}.md): " + " ".join(f"`{n}`" for n in names))
    pages["README"] = "\n".join(["# Reference", "", "Every public function, a page a module. Made by `scripts/reference.py`.", "", *index, "",
                                 *ERRORS, ""])
    for name in sorted(set(examples) - used):
        print(f"an example of what is not there: {name}", file=sys.stderr)

    wrong = [p for p, text in pages.items() if not (PAGES / f"{p}.md").exists() or (PAGES / f"{p}.md").read_text() != text]
    if arguments.check:
        if wrong:
            sys.exit("not up to date: " + ", ".join(wrong) + " (python3 scripts/reference.py)")
        return
    PAGES.mkdir(parents=True, exist_ok=True)
    for page, text in pages.items():
        (PAGES / f"{page}.md").write_text(text)


if __name__ == "__main__":
    main()
