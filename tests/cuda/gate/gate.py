#!/usr/bin/env python3
"""Compares what nvcc makes of kernels with a kept table: gate.py [--write] [--nvcc PATH] [--disassembler PATH] [FLAG...]

Compiles kernels.cu for sm_90, and compares with kernels.txt: registers (8 more are allowed), bytes of stack and of spills, and,
where nvdisasm is found, 128-bit loads and byte shuffles. A kernel that stores nothing fails whatever the table says: nvcc makes a
trap of a function that reads what a card has not, without a warning. --write replaces the table. Runs without a card.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ("registers", "stack", "spills", "loads128", "shuffles", "stores")


def short(name):
    """The body of a kernel without the namespaces and the parameters."""
    name = subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout.strip()
    name = re.sub(r"nax::(x86_\w+::)?", "", name)
    name = re.sub(r"\b(cuda|detail|rules|gate|loops)::", "", name)
    name = re.sub(r"^void run(_teams|_tiles|_blocks)?<(.*?) ?>\(.*$", r"\2", name)
    return name.replace(" ", "")


def resources(log):
    """Registers, stack and spills of each kernel, as ptxas -v tells them."""
    found, name = {}, None
    for line in log.splitlines():
        if m := re.search(r"Compiling entry function '(\S+)'", line):
            name = short(m[1])
            found[name] = dict.fromkeys(COLUMNS[:3], 0)
        elif m := re.search(r"Function properties for (\S+)", line):  # of a helper that the kernel calls, perhaps
            name = short(m[1]) if short(m[1]) in found else None
        elif (m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)) and name:
            found[name].update(stack=int(m[1]), spills=int(m[2]) + int(m[3]))
        elif (m := re.search(r"Used (\d+) registers", line)) and name:
            found[name]["registers"] = int(m[1])
    return found


def instructions(text):
    """Counts of each kernel's instructions in nvdisasm's text."""
    found, name = {}, None
    for line in text.splitlines():
        if m := re.match(r"\.text\.(\S+):", line):
            name = short(m[1])
            found[name] = dict.fromkeys(COLUMNS[3:], 0)
        elif name and re.match(r"\s*/\*[0-9a-f]+\*/", line):
            counts = found[name]
            counts["loads128"] += bool(re.search(r"\bLDG\S*\.128", line))
            counts["shuffles"] += bool(re.search(r"\bPRMT\b", line))
            counts["stores"] += bool(re.search(r"\bSTG?\b|\bSTG?\.", line))
    return found


def measure(nvcc, disassembler, flags):
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder, "kernels.cubin")
        command = [nvcc, "-arch=sm_90", "-std=c++20", "--expt-relaxed-constexpr", "-DNDEBUG", "-DEIGEN_NO_CUDA",
                   f"-I{HERE.parents[2] / 'include'}", *flags, "-Xptxas", "-v", "-cubin", str(HERE / "kernels.cu"), "-o", str(cubin)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=550)
        if done.returncode:
            sys.exit(f"gate: kernels.cu does not compile\n{done.stdout}{done.stderr}")
        found = resources(done.stdout + done.stderr)
        if disassembler:
            text = subprocess.run([disassembler, "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
            for name, counts in instructions(text).items():
                found.setdefault(name, {}).update(counts)
        return {name: counts for name, counts in found.items() if "registers" in counts and "cub::" not in name}


def read_table(text):
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {row[0]: dict(zip(COLUMNS, map(int, row[1:]))) for row in rows}


def write_table(found):
    lines = ["# kernel " + " ".join(COLUMNS)]
    lines += [" ".join([name, *(str(found[name][c]) for c in COLUMNS)]) for name in sorted(found)]
    return "\n".join(lines) + "\n"


def complaints(kept, found):
    """Lists what is worse than the table, a line each."""
    for name in sorted(kept.keys() - found.keys()):
        yield f"{name}: is in the table and was not compiled"
    for name in sorted(found.keys() - kept.keys()):
        yield f"{name}: is not in the table; gate.py --write"
    for name, now in sorted(found.items()):
        if now.get("stores") == 0:
            yield f"{name}: stores nothing: it is a trap"
        was = kept.get(name)
        if not was:
            continue
        for column, slack in (("registers", 8), ("stack", 0), ("spills", 0), ("shuffles", 0)):
            if column in now and now[column] > was[column] + slack:
                yield f"{name}: {column}: {now[column]}, of {was[column]} in the table"
        if "loads128" in now and now["loads128"] < was["loads128"]:
            yield f"{name}: loads128: {now['loads128']}, of {was['loads128']} in the table"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--disassembler", default=shutil.which("nvdisasm"))
    options, flags = parser.parse_known_args()
    found = measure(options.nvcc, options.disassembler, flags)
    table = HERE / "kernels.txt"
    if options.write:
        if not options.disassembler:
            sys.exit("gate: --write needs nvdisasm (pip install nvidia-cuda-nvdisasm, --disassembler PATH)")
        table.write_text(write_table(found))
    bad = list(complaints(read_table(table.read_text()), found))
    print("\n".join(bad) if bad else f"gate: {len(found)} kernels are as the table says"
          + ("" if options.disassembler else "; nvdisasm is not installed: loads and shuffles were not counted"))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
