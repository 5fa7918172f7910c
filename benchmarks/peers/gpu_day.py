"""Program of gpu_day.sh: runs steps in the order of their value, each once, and writes one JSON file."""

import argparse
import json
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = ["-std=c++20", f"-I{ROOT}/include", "-isystem/usr/include/eigen3"]

arguments = argparse.ArgumentParser()
arguments.add_argument("--seconds", type=float, default=600)
arguments.add_argument("--peak", type=float, default=3350)
arguments.add_argument("--dry-run", action="store_true")
arguments.add_argument("--emulated", action="store_true")
arguments.add_argument("--out", default=f"{ROOT}/out/gpu_day")
options = arguments.parse_args()
begin = time.monotonic()
kept = os.path.join(options.out, "gpu_day.json")
program = os.path.join(options.out, "gpu_bandwidth" + ("_emulated" if options.emulated else ""))


def run(command, limit):
    """The exit status (None: it ran past the limit) and the output of a command."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=ROOT)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")
    except FileNotFoundError as missing:
        return 127, str(missing)


def simply(*command):
    """A step that is a command: whether it ended well, and its last lines."""
    def step(limit):
        status, output = run(command, limit)
        return {"passed": status == 0, "status": status, "output": output.splitlines()[-30:]}
    return step


def build_bandwidth(limit):
    source = f"{ROOT}/benchmarks/support/gpu_bandwidth.cpp"
    if options.emulated:
        command = ["g++", *INCLUDE, "-O1", "-DNAX_CUDA_EMULATED", source, f"{ROOT}/include/nax/backend/cuda/nax_cuda_emulated.cpp",
                   "-o", program, "-lz", "-pthread"]
    else:
        command = ["nvcc", *INCLUDE[:2], "-isystem=/usr/include/eigen3", "-O3", "-DNDEBUG", "-DEIGEN_NO_CUDA", "-arch=native",
                   "--expt-relaxed-constexpr", "-Xcompiler=-Wno-subobject-linkage", "-x", "cu", source,
                   f"{ROOT}/include/nax/backend/cuda/nax_cuda.cu", "-o", program, "-lcublasLt", "-lcublas", "-lcusolver", "-lcufft", "-lz"]
    return simply(*command)(limit)


def bandwidth(limit):
    status, output = run([program, *(["4096"] if options.emulated else [])], limit)
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    for row in rows:
        row["share_of_peak"] = row["gigabytes_per_second"] / options.peak
    return {"passed": status == 0, "status": status, "peak": options.peak, "rows": rows,
            **({} if status == 0 else {"output": output.splitlines()[-30:]})}


def ctest(pattern):
    return simply("ctest", "--preset", "cuda", "-R", pattern, "--no-tests=error", "--output-on-failure")


# Name, seconds it is given, what it does. Building for cards goes on in slices by itself: ninja keeps what it has made.
ON_A_CARD = [
    ("card", 20, simply("nvidia-smi", "--query-gpu=name,memory.total,driver_version,clocks.max.mem", "--format=csv")),
    ("configure", 120, simply("cmake", "--preset", "cuda")),
    ("build the device's tests", 3000, simply("cmake", "--build", "--preset", "cuda", "--target", "gpu_device_test")),
    ("the device's tests", 300, ctest("^gpu_device_test")),
    ("build the bandwidth's program", 900, build_bandwidth),
    ("bandwidth", 300, bandwidth),
    ("build the operations' tests", 3000, simply("cmake", "--build", "--preset", "cuda", "--target", "gpu_operations_test")),
    ("the operations' tests", 600, ctest("^gpu_operations_test")),
    ("build the table's tests", 3000, simply("cmake", "--build", "--preset", "cuda", "--target", "gpu_table_test")),
    ("the table's tests", 900, ctest("^gpu_table_test")),
    ("training steps, with graphs and without", 900, simply("bash", "benchmarks/devices.sh", "--experiments", "mnist")),
    ("build all tests", 3000, simply("cmake", "--build", "--preset", "cuda")),
    ("all tests of cards", 1800, simply("ctest", "--preset", "cuda", "-L", "gpu", "--output-on-failure")),
]
EMULATED = [step for step in ON_A_CARD if step[0].endswith(("bandwidth", "bandwidth's program"))]


def main():
    steps = EMULATED if options.emulated else ON_A_CARD
    os.makedirs(options.out, exist_ok=True)
    results = {}
    if os.path.exists(kept):
        with open(kept) as file:
            results = json.load(file)
    if results.setdefault("emulated", options.emulated) != options.emulated:
        raise SystemExit(f"gpu_day: {kept} is of {'an emulated device' if results['emulated'] else 'a card'}: choose another --out")
    done = results.setdefault("steps", {})
    for name, limit, step in steps:
        if name in done and done[name]["status"] is not None:
            print(f"gpu_day: {name}: done before")
            continue
        left = options.seconds - (time.monotonic() - begin)
        if options.dry_run:
            print(f"gpu_day: {name}: up to {limit} s")
            continue
        if left <= 0:
            print(f"gpu_day: {name}: waits for the next call")
            return
        print(f"gpu_day: {name}", flush=True)
        start = time.monotonic()
        done[name] = step(min(limit, left))
        done[name]["seconds"] = round(time.monotonic() - start, 1)
        with open(kept + ".new", "w") as file:
            json.dump(results, file, indent=1)
        os.replace(kept + ".new", kept)
        if done[name]["status"] is None:
            print(f"gpu_day: {name}: cut short; the next call tries again")
        elif not done[name]["passed"]:
            print(f"gpu_day: {name}: failed; its output is in {kept}")
    if not options.dry_run:
        print(f"gpu_day: all is done: {kept}")


main()
