"""generate.py FOLDER [NAME ...]: functions.txt as C++, a few functions (or only those named) to a source file, into FOLDER.

Files whose text stays the same are not written, so that they are not compiled again."""

import pathlib
import sys

from functions import functions

in_one_file = 6


def body(function):
    f = f"[]([[maybe_unused]] const auto& x, [[maybe_unused]] const auto& y, [[maybe_unused]] const auto& i, [[maybe_unused]] auto n) {{ return {function.nax}; }}"
    kind = {"int": "int_", "bool": "bool_"}.get(function.inputs, function.inputs)
    lines = [f"  {{\n    const auto f = {f};", f'    add(rows, "{function.name}", {kind}, f);']
    if function.gradient:
        lines.append(f'    add_gradient(rows, "{function.name}", {kind}, f);')
    return "\n".join(lines) + "\n  }\n"


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
chosen = [f for f in functions() if not sys.argv[2:] or f.name in sys.argv[2:]]
parts = [chosen[i : i + in_one_file] for i in range(0, len(chosen), in_one_file)]
sources = []
for number, part in enumerate(parts):
    path = folder / f"functions_{number}.cpp"
    rows = "".join(map(body, part))
    write(
        path,
        f'#include "lint.hpp"\n\nnamespace bench::lint {{\nvoid functions_{number}(Rows& rows) {{\n{rows}}}\n}}  // namespace bench::lint\n',
    )
    sources.append(path)
declared = "".join(f"void functions_{i}(Rows&);\n" for i in range(len(parts)))
called = "".join(f"  functions_{i}(rows);\n" for i in range(len(parts)))
write(
    folder / "main.cpp",
    f'#ifdef NAX_LINT_JIT\n#include "jit_row.hpp"\n#else\n#include "../support/row.hpp"\n#endif\n\nnamespace bench::lint {{\n{declared}'
    f"int run() {{\n  Rows rows;\n{called}  return serve(rows);\n}}\n}}  // namespace bench::lint\n\n"
    f"int main() {{ return bench::lint::run(); }}\n",
)
print(";".join(map(str, [*sources, folder / "main.cpp"])), end="")
