#!/usr/bin/env python3
"""Passes the sources of the preset cuda through compilers' front ends alone, which refuse code that g++ 12 accepts.

    cmake --preset cuda
    python3 scripts/cuda_front_end.py                  # all
    python3 scripts/cuda_front_end.py linear_test      # those whose path contains the word
    python3 scripts/cuda_front_end.py --since HEAD~3   # those that differ from a commit
    python3 scripts/cuda_front_end.py --part 3/8       # a part of them; `--part date/8`: that of the day

C++ sources that nvcc compiles are read by clang++ -fsyntax-only, which instantiates templates. Sources in CUDA are read by
cudafe++, whose call nvcc's dry run says, since nvcc has no -fsyntax-only, and what that writes for the host's compiler by g++: without
warnings, but for the sources of include/nax. Some sources of a program are read as one (--together): most of the time goes into nax
itself.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def front_end_of(command, source, folder):
    """The shell lines by which nvcc would preprocess `source` for the host and pass it through its front end."""
    words = re.sub(r" -c \S+ -o \S+$", "", command)
    words = words.replace("/nvcc ", "/nvcc --dryrun --keep --keep-dir %s " % folder, 1)
    said = subprocess.run(f"{words} -c {source} -o {folder}/none.o", shell=True, cwd=folder, text=True, capture_output=True)
    lines = [line[3:] for line in said.stderr.splitlines() if line.startswith("#$ ")]
    last = [i for i, line in enumerate(lines) if re.match(r'(\S*/)?"?cudafe\+\+', line)]
    if said.returncode or not last:
        sys.exit(f"cuda_front_end: nvcc --dryrun: no call of cudafe++:\n{said.stderr[-2000:]}")
    calls = lines[: last[0] + 1]
    for i, line in enumerate(calls):
        if re.match(r"\w+=", line):  # of the shell's variables, quoted where they hold blanks
            name, value = line.split("=", 1)
            calls[i] = f"export {name}={value}" if value.startswith('"') and value.count('"') == 2 else \
                "export %s='%s'" % (name, value.strip())
    host, stub = (re.search(rf'--{name} "?([^" ]+)', calls[-1])[1] for name in ("gen_c_file_name", "stub_file_name"))
    flags = [flag for flags in re.findall(r"-Xcompiler=(\S+)", command) for flag in flags.split(",")]
    if str(ROOT / "include") + "/" in source:  # what users compile: to the end, with the warnings of their compiler
        flags += re.findall(r"-O\d", command) + ["-Werror", "-S", "-o", "none.s"]
    else:
        flags = [flag for flag in flags if flag.startswith("-m")] + ["-fsyntax-only", "-w"]
    calls += [f": > {stub}", f"g++ -std=c++20 {' '.join(flags)} -fmax-errors=5 -D__CUDA_ARCH_LIST__=900 {host}"]
    return "set -e\n" + "\n".join(calls)


def clang_line(command, source):
    """The call of clang++ that checks a C++ source, as for emulated GPUs, by an nvcc command's definitions and folders."""
    kept, words = ["-DNAX_CUDA_EMULATED"], iter(shlex.split(command))
    for word in words:
        if word.startswith(("-D", "-I", "-isystem")):
            kept.append(word.replace("-isystem=", "-isystem"))
        elif word == "-include":
            kept += [word, next(words)]
    return shlex.join(["clang++", "-std=c++20", "-fsyntax-only", "-w", "-ferror-limit=3", "-march=native", *kept, "-x", "c++", source])


def groups_of(entries, together):
    """Sources with one command, `together` at a time: (command, sources)."""
    by_command = {}
    for entry in entries:
        command = re.sub(r" -c \S+ -o \S+$", " -c - -o -", entry["command"])
        by_command.setdefault(command, []).append(entry["file"])
    groups = []
    for command, sources in by_command.items():
        # Tests have namespaces of their own; other sources stand alone.
        alone = [s for s in sources if not s.endswith("_test.cpp")]
        tests = [s for s in sources if s.endswith("_test.cpp")]
        groups += [(command, [s]) for s in alone]
        groups += [(command, tests[i : i + together]) for i in range(0, len(tests), together)]
    return groups


def changed_since(commit):
    """The files that differ from a commit, and those that git does not know."""
    names = subprocess.check_output(["git", "diff", "--name-only", commit], cwd=ROOT, text=True)
    names += subprocess.check_output(["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, text=True)
    return {str(ROOT / name) for name in names.split()}


def check(command, sources):
    """The errors of the front end about the sources; empty where it takes them."""
    with tempfile.TemporaryDirectory() as folder:
        path = sources[0]
        if len(sources) > 1:
            path = f"{folder}/together.cpp"
            pathlib.Path(path).write_text("".join(f'#include "{s}"\n' for s in sources))
        line = front_end_of(command, path, folder) if path.endswith(".cu") else clang_line(command, path)
        done = subprocess.run(["bash", "-c", line], cwd=folder, text=True, capture_output=True)
        said = [line for line in (done.stdout + done.stderr).splitlines() if line]
        return "\n".join(said) or f"status {done.returncode}" if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="parts of paths")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/cuda", help="where the preset is configured")
    parser.add_argument("--since", metavar="COMMIT", help="sources that differ from it")
    parser.add_argument("--part", metavar="K/N", help="part K of N of them, K from 0, or 'date'")
    parser.add_argument("--together", type=int, default=8, help="sources that are read as one")
    parser.add_argument("--seconds", type=float, help="begin no other source after so long; those left are counted")
    options = parser.parse_args()

    database = options.build / "compile_commands.json"
    if not database.exists():
        sys.exit(f"cuda_front_end: there is no {database}: run cmake --preset cuda")
    entries = [e for e in json.loads(database.read_text()) if e["command"].split()[0].endswith("nvcc")]
    if options.words:
        entries = [e for e in entries if any(word in e["file"] for word in options.words)]
    if options.since:
        changed = changed_since(options.since)
        entries = [e for e in entries if str(pathlib.Path(e["file"]).resolve()) in changed]
    groups = groups_of(entries, options.together)
    if options.part:
        which, of = options.part.split("/")
        day = int(time.time() // 86400)
        groups = [g for i, g in enumerate(groups) if i % int(of) == (day if which == "date" else int(which)) % int(of)]

    begin, refused, read = time.time(), 0, 0
    for i, (command, sources) in enumerate(groups):
        if options.seconds and time.time() - begin > options.seconds:
            print(f"cuda_front_end: {sum(len(g[1]) for g in groups[i:])} sources are left: time is up")
            break
        said = check(command, sources)
        for source in sources:
            print(f"{'refused' if said else 'ok'}: {pathlib.Path(source)}", flush=True)
        if said:
            print(said, flush=True)
        read += len(sources)
        refused += bool(said)
    print(f"cuda_front_end: {read} sources in {time.time() - begin:.0f} s, {refused} groups refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
