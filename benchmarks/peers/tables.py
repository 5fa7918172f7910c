"""The tables of compare.py and mnist.py: as markdown, and in the documents.

`compare.sh publish` copies the last ones to benchmarks/results and shows them in README.md and docs/performance.md.
"""

import argparse
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIDES = ("nax", "JAX", "PyTorch", "NumPy", "Eigen", "C++")
LIMITS = ("Eigen", "C++")  # shown, but not the peers whose best nax is measured against


def judge(row):
    """Adds nax / best peer, by medians and by the least times, and nax / what is written by hand."""
    times = row["times"]
    peers = {name: t for name, t in times.items() if name != "nax" and name not in LIMITS}
    if "nax" not in times:
        return
    for what, key in (("median_us", "ratio"), ("least_us", "least_ratio")):
        if peers:
            row[key] = times["nax"][what] / min(t[what] for t in peers.values())
    if peers:
        row["best"] = min(peers, key=lambda name: peers[name]["median_us"])
    for limit in LIMITS:
        if limit in times:
            row["ratio_" + limit] = times["nax"]["median_us"] / times[limit]["median_us"]


def goal(row):
    """(what is measured, at most): microseconds where a row has goal_us, else the ratio."""
    if "goal_us" in row:
        return row["times"]["nax"]["median_us"], row["goal_us"]
    return row.get("ratio", 0), row.get("goal", 1.0)


def goals_missed(report):
    """A line for each goal that is not reached, the farthest first."""
    lines = []
    for row in report["rows"]:
        have, most = goal(row)
        if have > most:
            what = "us" if "goal_us" in row else f"of {row['best']}'s time"
            lines.append((have / most, f"{row['label']}: {number(have)} {what}, the goal is {most}"))
        by_hand, most = row.get("ratio_C++", 0), row.get("goal_by_hand", math.inf)
        if by_hand > most:
            lines.append((by_hand / most, f"{row['label']}: {number(by_hand)} of hand-written C++'s, the goal is {most}"))
    return [f"- {line}" for _, line in sorted(lines, reverse=True)]


def number(x):
    """Three digits."""
    if x is None:
        return ""
    if x >= 99.5 or x <= 0:
        return f"{x:.0f}"
    return f"{x:.{max(0, 2 - math.floor(math.log10(x)))}f}"


def described(report):
    cores = f", {report['threads']} thread{'s' if report['threads'] > 1 else ''}" if "threads" in report else ""
    if report.get("isa"):
        cores += f", {report['isa'].upper()} at most"
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return f"{report['machine']}{cores}, {report['date']}; {versions}."


def row_tables(report):
    """A table for each section."""
    rows = report["rows"]
    names = [n for n in SIDES if any(n in row["times"] for row in rows)]
    peers = ", ".join(n for n in names if n != "nax" and n not in LIMITS)
    clock = "the processor's time" if report["threads"] == 1 else "time that passes"
    lines = [described(report), f"Medians in microseconds of {clock}, float32 unless it says otherwise; the ratio is nax / the best of {peers}."]
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            lines += ["", f"| {section} | {' | '.join(names)} | ratio | goal |", "| --- |" + " ---: |" * (len(names) + 2)]
        times = " | ".join(number(row["times"].get(n, {}).get("median_us")) for n in names)
        have, most = goal(row)
        wanted = f"{most} us" if "goal_us" in row else f"{most:.2f}"
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
        lines.append(f"| {row['label']} | {times} | {ratio} | {wanted}{' (missed)' if have > most else ''} |")
    return "\n".join(lines) + "\n"


def short_table(report):
    """The rows for the README."""
    lines = [
        described(report),
        "",
        "| microseconds, float32 | nax | best of JAX, PyTorch, NumPy | ratio |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in report["rows"]:
        if row.get("readme"):
            times = row["times"]
            best = f"{number(times[row['best']]['median_us'])} ({row['best']})"
            label = row["label"] if row["readme"] is True else row["readme"]
            lines.append(f"| {label} | {number(times['nax']['median_us'])} | {best} | {row['ratio']:.2f} |")
    return "\n".join(lines) + "\n"


def mnist_table(report):
    lines = [
        described(report) + " Batch 128, relu, SGD with momentum; an epoch is the median of those after the first.",
        "",
        "| network | threads | devices | epoch, s: nax | JAX | ratio | first epoch: nax | JAX | first step, ms: nax | JAX "
        "| start and load, s: nax | JAX | accuracy: nax | JAX |",
        "| --- |" + " ---: |" * 13,
    ]
    for run in report["runs"]:
        nax, jax = run["sides"]["nax"], run["sides"]["JAX"]
        lines.append(
            f"| 784-{run['hidden'].replace(',', '-')}-10 | {run['threads']} | {run['devices']} "
            f"| {nax['epoch']:.2f} | {jax['epoch']:.2f} | {run['ratio']:.2f} "
            f"| {nax['first_epoch']:.2f} | {jax['first_epoch']:.2f} "
            f"| {nax['first_step'] * 1e3:.1f} | {jax['first_step'] * 1e3:.0f} "
            f"| {nax['ready']:.2f} | {jax['ready']:.2f} | {nax['accuracy']:.4f} | {jax['accuracy']:.4f} |"
        )
    return "\n".join(lines) + "\n"


def write(out, name, report, text):
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text(text)
    (out / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    print(text)
    print(f"written to {out}/{name}.md and .json", file=sys.stderr)


def show(path, tables):
    """Replaces what stands between `<!-- NAME -->` and `<!-- end -->` in a document."""
    text = path.read_text()
    for name, table in tables.items():
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + table + m[2], text, flags=re.DOTALL
        )
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(prog="compare.sh publish")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out, results = parser.parse_args().out, ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    full, short = {}, {}
    for name in ("threads_1", "threads_2", "threads_1_avx2", "mnist"):
        if (out / f"{name}.json").exists():
            report = json.loads((out / f"{name}.json").read_text())
            (results / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
            full[name] = mnist_table(report) if name == "mnist" else row_tables(report)
            if name != "mnist":
                full[f"missed, {name}"] = "\n".join(goals_missed(report) or ["- nothing"]) + "\n"
            short[name] = mnist_table(report) if name == "mnist" else short_table(report)
    show(ROOT / "docs" / "performance.md", full)
    show(ROOT / "README.md", short)


if __name__ == "__main__":
    main()
