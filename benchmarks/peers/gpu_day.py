"""Program of gpu_day.sh: steps with a card in the order of their worth, each written down at once; gpu_day_pack.py has the pack."""

import argparse
import functools
import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import devices_rows
import gpu_day_pack
import gpu_day_tables
from devices_rows import lines_of

ROOT = gpu_day_pack.ROOT
PEERS = os.path.join(ROOT, "benchmarks", "peers")

arguments = argparse.ArgumentParser()
arguments.add_argument("--pack", action="store_true")
arguments.add_argument("--programs")
arguments.add_argument("--seconds", type=float)
arguments.add_argument("--only")
arguments.add_argument("--results")
arguments.add_argument("--peak", type=float)
arguments.add_argument("--cards", type=int)
arguments.add_argument("--list", action="store_true")
arguments.add_argument("--docs", action="store_true")
arguments.add_argument("--emulated", action="store_true")
arguments.add_argument("--pack-folder")
arguments.add_argument("--out")
options = arguments.parse_args()
suffix = "_emulated" if options.emulated else ""
pack = os.path.abspath(options.pack_folder or f"{ROOT}/out/gpu_pack{suffix}")
out = os.path.abspath(options.out or f"{ROOT}/out/gpu_day{suffix}")
seconds = options.seconds if options.seconds is not None else (3600 if options.pack else 570)
begin = time.monotonic()
programs = {}
ELEMENTS = ["4096"] if options.emulated else []
REPEATS = 2 if options.emulated else 5


def library_folders():
    """Where CUDA's libraries lie: the toolkit's folder, and those of Python's packages."""
    folders = ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib", "/usr/local/nvidia/lib64"]
    for path in [p for p in sys.path if p.endswith("-packages")]:
        folders += sorted(glob.glob(f"{path}/nvidia/*/lib"))
    return [folder for folder in folders if os.path.isdir(folder)]


def environment(**more):
    known = {"NAX_GOLDENS_DIR": os.path.join(pack, "goldens"), "NAX_MNIST_DIR": os.path.join(pack, "mnist"), "NAX_NEEDS_GPU": "1"}
    if not options.emulated:
        known["LD_LIBRARY_PATH"] = ":".join(library_folders() + [os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(":")
    return {**os.environ, **known, **more}


class Missing(Exception):
    """A program that is not there."""


def program(name):
    if name not in programs:
        raise Missing(f"{name} is not in the pack")
    return programs[name]["path"]


def run(command, limit, **more):
    """The exit status (None: it ran past the limit) and the output of a command, which is logged whole."""
    start = time.monotonic()
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=out, env=environment(**more), start_new_session=True)
    except FileNotFoundError as missing:
        raise Missing(str(missing))
    try:
        output = process.communicate(timeout=max(1, limit))[0]
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # its children, too, which would keep the card and the pipe
        status, output = None, process.communicate()[0]
    output = output.decode(errors="replace")
    with open(os.path.join(out, "gpu_day.log"), "a") as log:
        log.write(f"$ {' '.join(f'{k}={v}' for k, v in more.items())} {' '.join(command)}\n{output[-200000:]}\n"
                  f"status {status}, {time.monotonic() - start:.1f} s\n")
    return status, output


def result(status, output, **more):
    return {"passed": status == 0, "status": status, **({} if status == 0 else {"output": output.splitlines()[-40:]}), **more}


@functools.cache
def cards():
    """How many cards there are, in this environment; so many devices are emulated."""
    if options.cards:
        return options.cards
    found = lines_of(run([program("gpu_hazards"), "cards"], 60)[1])
    return found[0]["cards"] if found else 1


def on_cards(count):
    """The environment of a program that uses so many devices, each a card of its own where there are as many."""
    return {"NAX_CUDA_DEVICES": str(count)} if options.emulated or count > cards() else {}


def counts():
    """1, 2 and 4 cards, as far as they are there."""
    return [n for n in (1, 2, 4) if n <= cards()]


# ---- steps: functions of the seconds that they are given, which return what is written down

def facts(limit):
    found = {}
    questions = {
        "card": ["nvidia-smi", "--query-gpu=name,memory.total,driver_version,clocks.max.sm,clocks.max.mem", "--format=csv,noheader"],
        "nvcc": ["nvcc", "--version"],
        "peers": [sys.executable, "-c", "import importlib.metadata as m\nfor n in ('torch', 'jax', 'numpy'):\n"
                  "  try: print(n, m.version(n))\n  except Exception: print(n, 'is missing')"],
        "processors": ["nproc"],
    }
    for name, command in questions.items():
        try:
            status, output = run(command, 60)
            found[name] = output.strip().splitlines()[-4:] if status == 0 else f"status {status}"
        except Missing as missing:
            found[name] = str(missing)
    lacking = set()
    for name in programs:
        _, output = run(["ldd", program(name)], 30)
        lacking |= set(re.findall(r"(\S+) => not found", output))
    found["missing libraries"] = sorted(lacking)
    status, output = run([program("gpu_hazards"), "smoke"], min(limit, 120))
    found["cards"] = cards()
    return result(status, output, facts=found)


def hazards(limit):
    names = run([program("gpu_hazards")], 60)[1].split()
    names.remove("smoke")
    rows = []
    for name in names:
        said = [run([program("gpu_hazards"), name], min(60, limit / len(names) / REPEATS + 20)) for _ in range(REPEATS)]
        rows.append({"hazard": name, "passed": sum(status == 0 for status, _ in said), "of": REPEATS,
                     "output": next((text.splitlines()[-6:] for status, text in said if status != 0), [])})
    return {"passed": all(row["passed"] == row["of"] for row in rows), "status": 0, "rows": rows}


def tests(name, devices, shards=1, arguments=()):
    """A GoogleTest program, its shards at a time; failed tests by name."""
    def step(limit):
        path = program(name)
        def shard(i):
            return run([path, "--gtest_brief=1", *arguments], limit, GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(i), **devices)
        with ThreadPoolExecutor(min(8, shards)) as pool:
            said = list(pool.map(shard, range(shards)))
        failed, passed = set(), 0
        for status, output in said:
            failed |= set(re.findall(r"^\[  FAILED  \] ([^\s,]+/?[^\s,]*)(?:,.*)?(?: \(\d+ ms\))?$", output, re.M))
            passed += sum(int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) tests?", output, re.M))
        bad = next(((s, o) for s, o in said if s != 0), said[0])
        return result(bad[0], bad[1], failed_tests=sorted(failed), passed_tests=passed, shards=[status for status, _ in said])
    return step


def sanitizer(tool):
    """compute-sanitizer on what indexes the most: scans, sorts, scatters, rows, pieces."""
    def step(limit):
        jobs = [("gpu_hazards", [program("gpu_hazards"), name]) for name in ("jit_matmul", "loader_thread", "memory_released_while_recording",
                                                                                  "first_kernel_of_a_thread_while_recording")]
        if "gpu_operations_test" in programs:
            jobs.append(("gpu_operations_test", [program("gpu_operations_test"), "--gtest_brief=1",
                                                 "--gtest_filter=*Scan*:*Sort*:*Scatter*:*Rows*:*Norms*:*Pieces*:*Bins*:*Attention*:*Transpose*:*Index*:*Random*"]))
        elif "gpu_device_test" in programs:
            jobs.append(("gpu_device_test", [program("gpu_device_test"), "--gtest_brief=1"]))
        rows, worst = [], (0, "")
        for name, command in jobs:
            status, output = run(["compute-sanitizer", f"--tool={tool}", "--error-exitcode=9", "--kernel-name-exclude=kns=cublas", *command],
                                 limit / len(jobs), NAX_CUDA_DEVICES="4")
            rows.append({"program": " ".join(os.path.basename(c) for c in command), "status": status,
                         "said": re.findall(r"^========= (?!COMPUTE-SANITIZER).*", output, re.M)[:12]})
            if status != 0:
                worst = (status, output)
        return result(*worst, rows=rows)
    return step


def peak_of_card():
    """Gigabytes a second of the card's memory, as its maker has them; an H100's where the card is not known."""
    if options.peak:
        return options.peak
    try:
        name = run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], 30)[1]
    except Missing:
        name = ""
    return 4800 if "H200" in name else 3350


def kernels(limit):
    """Rows of nax, PyTorch and JAX in turn, twice; the better of each."""
    best, order, peers, says, bad = {}, [], {}, {}, (0, "")
    for _ in range(1 if options.emulated else 2):
        status, output = run([program("gpu_bandwidth"), *ELEMENTS], limit / 6)
        if status != 0:
            bad = (status, output)
        for row in lines_of(output):
            name = row["kernel"]
            if name not in best:
                order.append(name)
                best[name] = row
            if row["seconds"] < best[name]["seconds"]:
                best[name] = row
        for peer in ("torch", "jax"):
            status, output = run([sys.executable, os.path.join(PEERS, f"gpu_day_{peer}.py"), *ELEMENTS], limit / 6)
            says[peer] = "measured" if status == 0 else output.splitlines()[-3:]
            for row in lines_of(output):
                mine = peers.setdefault(row["kernel"], {})
                mine[peer] = min(mine.get(peer, row["seconds"]), row["seconds"])
    rows, peak = [{**best[name], **{f"{peer}_seconds": s for peer, s in peers.get(name, {}).items()}} for name in order], peak_of_card()
    for row in rows:
        row["share_of_peak"] = row["bytes"] / row["seconds"] / 1e9 / peak
    return result(*bad, peak=peak, rows=rows, **says)


def gpt(limit):
    """Training steps of a GPT, and PyTorch's; losses fall."""
    small = ["1", "1"] if options.emulated else []
    status, output = run([program("gpu_gpt"), *small], limit / 3)
    rows = lines_of(output)
    if any(row["losses"][1] >= row["losses"][0] for row in rows):
        status = status or 1
    peer_status, peer_output = run([sys.executable, os.path.join(PEERS, "gpu_day_gpt.py"), *small], 2 * limit / 3)
    theirs = {row["step"]: row["seconds"] for row in lines_of(peer_output)}
    for row in rows:
        row["torch_seconds"] = theirs.get(row["step"])
    return result(status, output, rows=rows, torch="measured" if peer_status == 0 else peer_output.splitlines()[-3:])


def training(limit):
    """Steps of a perceptron: the CPU, a card called in four ways, 2 and 4 cards or four devices of one, and JAX."""
    small = ["--images", "512", "--epochs", "2", "--hidden", "32,32"] if options.emulated else []
    data = ["--data", mnist_folder()] if mnist_folder() and not options.emulated else []
    cases = [("CPU", "cpu", 1, "pmap", {}), ("1 card, pmap", "cuda", 1, "pmap", {}), ("1 card, eager", "cuda", 1, "eager", {}),
             ("1 card, jit", "cuda", 1, "jit", {}), ("1 card, jit, donated", "cuda", 1, "donated", {})]
    for n in counts()[1:]:
        cases += [(f"{n} cards, pmap", "cuda", n, "pmap", {}), (f"{n} cards, pmap, NAX_NCCL=0", "cuda", n, "pmap", {"NAX_NCCL": "0"})]
    if cards() == 1:
        cases.append(("4 devices of one card, pmap", "cuda", 4, "pmap", {}))
    rows, bad = [], (0, "")
    for name, platform, count, how, more in cases:
        status, output = run([program("device_training"), "--platform", platform, "--devices", str(count), "--step", how, *small, *data],
                             limit / (len(cases) + 2), **on_cards(count), **more)
        row = next(iter(lines_of(output)), {})
        if status != 0 or not row.get("present"):
            bad = (status or 1, output)
        rows.append({"case": name, "status": status, **row})
    status, output = run([sys.executable, os.path.join(PEERS, "devices_jax.py"), "cuda", "1", "784,512,512,10", "128"], limit / (len(cases) + 2))
    rows.append({"case": "JAX, 1 card", "status": status, **next(iter(lines_of(output)), {})})
    return result(*bad, rows=rows)


def mnist_folder():
    folder = os.path.join(pack, "mnist")
    return folder if os.path.isdir(folder) else None


def scaling(limit):
    """Two networks on the CPU and on 1, 2 and 4 cards: one batch shared out, and one a card; JAX and PyTorch beside."""
    begun, rows, bad = time.monotonic(), [], (0, "")
    left = lambda: limit - (time.monotonic() - begun)
    path = program("device_training")
    for experiment in ("mnist", "large"):
        cases = [("cuda", n, False) for n in counts()] + [("cuda", n, True) for n in counts()[1:]] + [("cpu", 1, False)]
        for platform, count, weak in cases:
            if left() < 10 and not options.emulated:
                bad = (1, "time is up: a part of the rows is missing")
                break
            row = devices_rows.training(path, experiment, platform, count, weak, options.emulated, mnist_folder(), run, left(), **on_cards(count))
            if not row["present"]:
                bad = (1, f"{experiment} on {count} of {platform} failed")
            rows.append(row if options.emulated else devices_rows.peers(row, run, min(90, left())))
    return result(*bad, rows=rows)


def psum(limit):
    """psum over 2 and 4 cards, or two devices of one card, with NCCL and without; and NCCL called by itself."""
    several = counts()[1:] or [2]
    most = [str(1 << 15)] if options.emulated else []
    rows, bad = {}, (0, "")
    for n in several:
        for nccl in ("1", "0"):
            status, output = run([program("gpu_psum"), str(n), *most], limit / (2 * len(several)), NAX_NCCL=nccl, **on_cards(n))
            if status != 0:
                bad = (status or 1, output)
            for row in lines_of(output):
                kept = rows.setdefault((n, row["bytes"]), {"devices": n, "bytes": row["bytes"], "of one card": cards() < n})
                kept[row["by"] if nccl == "1" else "without NCCL"] = {"seconds": row["seconds"], "bus": row["bus"]}
    return result(*bad, rows=list(rows.values()))


def losses(log):
    with open(log) as file:
        return [row["loss"] for row in lines_of(file.read()) if "loss" in row]


def mnist(limit):
    """An epoch of mnist_mlp on the CPU and on the card: losses step by step; then mnist_cnn and gpt."""
    if not mnist_folder():
        raise Missing("MNIST is not in the pack")
    rows, both, bad = [], {}, (0, "")
    small = ["--hidden", "64"] if options.emulated else []
    for platform in ("cpu", "cuda"):
        log = os.path.join(out, f"mnist_{platform}.jsonl")
        start = time.monotonic()
        status, output = run([program("mnist_mlp"), "--platform", platform, "--epochs", "1", "--activation", "tanh", "--log", log, *small], limit / 3)
        if status != 0:
            bad = (status or 1, output)
            continue
        both[platform] = losses(log)
        os.remove(log)
        rows.append({"program": f"mnist_mlp on {platform}", "seconds": round(time.monotonic() - start, 2), "says": output.strip().splitlines()[-1]})
    if len(both) == 2:
        apart = [abs(a - b) / abs(a) for a, b in zip(both["cpu"], both["cuda"])]
        rows.append({"program": "losses of the two", "says": f"{len(apart)} steps, apart by at most {max(apart):.2g} of their values"})
        if max(apart) > 1e-3:
            bad = (1, f"losses differ by {max(apart)} of their values")
    for name, more in (("mnist_cnn", ["--platform", "cuda", "--epochs", "1"]), ("gpt", ["--platform", "cuda", "--steps", "100"])):
        if name in programs:
            start = time.monotonic()
            status, output = run([program(name), *more], limit / 4)
            rows.append({"program": name, "seconds": round(time.monotonic() - start, 2), "status": status, "says": (output.strip().splitlines() or [""])[-1]})
            if status != 0:
                bad = (status or 1, output)
    return result(*bad, rows=rows)


def profile(limit):
    """Counters of the bandwidth's kernels, each once, of a quarter of the size."""
    status, output = run(["ncu", "--csv", "--metrics", "gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,"
                          "sm__throughput.avg.pct_of_peak_sustained_elapsed,launch__registers_per_thread", program("gpu_bandwidth"),
                          "16777216", "once"], limit)
    with open(os.path.join(out, "ncu.csv"), "w") as file:
        file.write("\n".join(line for line in output.splitlines() if line.startswith('"')) + "\n")
    return result(status, output, rows=output.count("\n"))


# Name, seconds it is given at most, programs whose new versions make it run again, function. In the order of their worth.
STEPS = [
    ("facts and smoke", 120, ["gpu_hazards"], facts),
    ("hazards", 400, ["gpu_hazards"], hazards),
    ("device tests", 240, ["gpu_device_test"], tests("gpu_device_test", {"NAX_CUDA_DEVICES": "2"})),
    ("operations", 400, ["gpu_operations_test"], tests("gpu_operations_test", {"NAX_CUDA_DEVICES": "4"}, 8)),
    ("table", 500, ["gpu_table_test"], tests("gpu_table_test", {"NAX_TEST_PLATFORM": "cuda"}, 8)),
    ("composition", 300, ["gpu_composition_test"], tests("gpu_composition_test", {"NAX_TEST_PLATFORM": "cuda"}, 8)),
    ("collectives", 300, ["gpu_collectives_test"], tests("gpu_collectives_test", {"NAX_TEST_PLATFORM": "cuda"}, 8)),
    ("pmap", 300, ["gpu_pmap_test"], tests("gpu_pmap_test", {"NAX_TEST_PLATFORM": "cuda"}, 8)),
    ("NCCL", 200, ["gpu_nccl_test"], tests("gpu_nccl_test", {"NAX_NCCL": "1"})),
    ("memcheck", 300, ["gpu_hazards", "gpu_operations_test"], sanitizer("memcheck")),
    ("racecheck", 300, ["gpu_hazards", "gpu_operations_test"], sanitizer("racecheck")),
    ("kernels beside PyTorch", 300, ["gpu_bandwidth"], kernels),
    ("GPT beside PyTorch", 240, ["gpu_gpt"], gpt),
    ("training", 240, ["device_training"], training),
    ("psum", 200, ["gpu_psum"], psum),
    ("scaling", 500, ["device_training"], scaling),
    ("MNIST", 180, ["mnist_mlp", "mnist_cnn", "gpt"], mnist),
    ("ncu", 180, ["gpu_bandwidth"], profile),
]
NOT_EMULATED = {"memcheck", "racecheck", "ncu"}


def versions(names):
    return {name: programs[name]["version"] for name in names if name in programs}


def write(results):
    kept = os.path.join(out, "gpu_day.json")
    with open(kept + ".new", "w") as file:
        json.dump(results, file, indent=1)
    os.replace(kept + ".new", kept)
    with open(os.path.join(out, "gpu_day.md"), "w") as file:
        file.write(gpu_day_tables.page(results))
    if options.results:
        os.makedirs(options.results, exist_ok=True)
        for name in ("gpu_day.json", "gpu_day.md", "gpu_day.log", "ncu.csv"):
            if os.path.exists(os.path.join(out, name)):
                shutil.copyfile(os.path.join(out, name), os.path.join(options.results, name))


def ordered(done):
    """Steps to do: those that no call has tried, then those that failed or whose programs are others now."""
    steps = [step for step in STEPS if not (options.emulated and step[0] in NOT_EMULATED)]
    if options.only:
        chosen = [step for step in steps if step[0] == options.only]
        if not chosen:
            raise SystemExit(f"gpu_day: there is no step '{options.only}': " + ", ".join(step[0] for step in steps))
        return chosen
    fresh = [step for step in steps if step[0] not in done]
    again = [step for step in steps if step[0] in done and
             (not done[step[0]]["passed"] or done[step[0]].get("versions") != versions(step[2]))]
    return fresh + again


def main():
    if options.list:
        for name, targets in gpu_day_pack.PROGRAMS.items():
            print(f"program {name}: {targets[options.emulated]}")
        for name, limit, *_ in STEPS:
            print(f"step {name}: up to {limit} s")
        return
    if options.docs:
        return gpu_day_tables.into_docs(os.path.join(ROOT, "docs", "gpu.md"), os.path.join(out, "gpu_day.md"))
    if options.pack:
        names = options.programs.split(",") if options.programs else list(gpu_day_pack.PROGRAMS)
        for name in names:
            if name not in gpu_day_pack.PROGRAMS:
                raise SystemExit(f"gpu_day: there is no program '{name}': " + ", ".join(gpu_day_pack.PROGRAMS))
        return gpu_day_pack.make(pack, options.emulated, names, seconds)
    if not os.path.exists(os.path.join(pack, "pack.json")):
        raise SystemExit(f"gpu_day: there is no pack in {pack}: gpu_day.sh --pack makes it where the toolkit is")
    os.makedirs(out, exist_ok=True)
    record, unpacked = gpu_day_pack.unpack(pack, out)
    programs.update(unpacked)
    results = {}
    if os.path.exists(os.path.join(out, "gpu_day.json")):
        with open(os.path.join(out, "gpu_day.json")) as file:
            results = json.load(file)
    if results.setdefault("emulated", options.emulated) != options.emulated or record["emulated"] != options.emulated:
        raise SystemExit(f"gpu_day: {out} and {pack} are not both of {'emulated devices' if options.emulated else 'cards'}")
    results["commit"] = record["commit"]
    done = results.setdefault("steps", {})
    for name, limit, needs, step in ordered(done):
        left = seconds - (time.monotonic() - begin)
        if left < min(limit, 30):
            print(f"gpu_day: {name}: waits for the next call")
            continue
        print(f"gpu_day: {name}", flush=True)
        start = time.monotonic()
        try:
            done[name] = step(min(limit, left))
        except Missing as missing:
            done[name] = {"passed": False, "status": 127, "output": [str(missing)]}
        done[name]["seconds"] = round(time.monotonic() - start, 1)
        done[name]["versions"] = versions(needs)
        write(results)
        print(f"gpu_day: {name}: {'passed' if done[name]['passed'] else 'failed'}, {done[name]['seconds']} s", flush=True)
        if step is facts and not done[name]["passed"]:
            raise SystemExit("gpu_day: no card answers:\n" + "\n".join(done[name].get("output", [])))
    write(results)
    print(f"gpu_day: {sum(step['passed'] for step in done.values())} of {len(done)} steps passed: {out}/gpu_day.md")


main()
