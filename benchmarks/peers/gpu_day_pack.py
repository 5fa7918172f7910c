"""The pack of gpu_day.sh: programs for a machine with a card that can build nothing, and their data."""

import hashlib
import json
import lzma
import os
import shutil
import subprocess
import tarfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_BYTES = 48 << 20

# By name in the pack: the target for cards and that for emulated GPUs (None: there is none). In the order of their worth.
PROGRAMS = {
    "gpu_hazards": ("gpu_hazards_cuda", "gpu_hazards_emulated"),
    "gpu_device_test": ("gpu_device_test", "cuda_device_test"),
    "gpu_bandwidth": ("gpu_bandwidth_cuda", "gpu_bandwidth_emulated"),
    "gpu_gpt": ("gpu_gpt_cuda", "gpu_gpt_emulated"),
    "device_training": ("device_training_cuda", "device_training_emulated"),
    "gpu_psum": ("gpu_psum_cuda", "gpu_psum_emulated"),
    "mnist_mlp": ("mnist_mlp", "mnist_mlp_emulated"),
    "gpu_operations_test": ("gpu_operations_test", "cuda_operations_test"),
    "mnist_cnn": ("mnist_cnn", None),
    "gpt": ("gpt", None),
    "gpu_table_test": ("gpu_table_test", "table_test"),
    "gpu_composition_test": ("gpu_composition_test", "composition_test"),
    "gpu_collectives_test": ("gpu_collectives_test", "collectives_test"),
    "gpu_pmap_test": ("gpu_pmap_test", "pmap_test"),
    "gpu_nccl_test": ("gpu_nccl_test", "nccl_test"),
}


def configure(emulated):
    preset = "emulations" if emulated else "gpu_day"
    subprocess.run(["cmake", "--preset", preset, "-DNAX_BUILD_BENCHMARKS=ON"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(ROOT, "build", preset)


def program_file(build, target):
    for folder, _, files in os.walk(build):
        if target in files and os.access(os.path.join(folder, target), os.X_OK):
            return os.path.join(folder, target)
    raise SystemExit(f"gpu_day: {build} has no program {target}")


def add_program(pack, name, path):
    """Strips, compresses and notes a program. Its version is a part of its hash."""
    stripped = os.path.join(pack, name)
    subprocess.run(["strip", "-o", stripped, path], check=True)
    with open(stripped, "rb") as file:
        data = file.read()
    os.remove(stripped)
    packed = lzma.compress(data, preset=6)
    with open(os.path.join(pack, "bin", name + ".xz"), "wb") as file:
        file.write(packed)
    return {"version": hashlib.sha256(data).hexdigest()[:12], "bytes": len(data), "packed": len(packed)}


def add_data(pack):
    """Goldens, lists that tests read, MNIST, and headers with which nvcc can compile a test there."""
    for folder, names in (("goldens", None), ("table", ["host_only.txt"])):
        os.makedirs(os.path.join(pack, folder), exist_ok=True)
        source = os.path.join(ROOT, "tests", folder)
        for name in names or [n for n in os.listdir(source) if n.endswith(".txt") and n != "requirements.txt"]:
            shutil.copy(os.path.join(source, name), os.path.join(pack, folder))
    mnist = os.environ.get("NAX_MNIST_DIR")
    if mnist:
        os.makedirs(os.path.join(pack, "mnist"), exist_ok=True)
        for name in os.listdir(mnist):
            if name.endswith("ubyte.gz"):
                shutil.copyfile(os.path.join(mnist, name), os.path.join(pack, "mnist", name))
    else:
        print("gpu_day: NAX_MNIST_DIR names no folder: the pack has no MNIST")
    headers = [path for path in ("/usr/include/eigen3/Eigen", "/usr/include/gtest", "/usr/lib/x86_64-linux-gnu/libgtest.a",
                                 "/usr/lib/x86_64-linux-gnu/libgtest_main.a") if os.path.exists(path)]
    with tarfile.open(os.path.join(pack, "headers.tar.xz"), "w:xz") as archive:
        for path in headers:
            archive.add(path, arcname=path.lstrip("/"))


def size_of(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, files in os.walk(folder) for name in files)


def make(pack, emulated, names, seconds):
    """Builds programs and packs each as soon as it is built; what fails or takes too long is named."""
    begin = time.monotonic()
    os.makedirs(os.path.join(pack, "bin"), exist_ok=True)
    listed = os.path.join(pack, "pack.json")
    record = {"emulated": emulated, "programs": {}}
    if os.path.exists(listed):
        with open(listed) as file:
            record = json.load(file)
    record["commit"] = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    build = configure(emulated)
    failed = []
    for name in names:
        target = PROGRAMS[name][emulated]
        left = seconds - (time.monotonic() - begin)
        if target is None:
            continue
        if left <= 0:
            failed.append(f"{name} (time is up)")
            continue
        start = time.monotonic()
        with open(os.path.join(build, f"gpu_day_{name}.log"), "w") as log:
            try:
                status = subprocess.run(["cmake", "--build", build, "--target", target, "-j", os.environ.get("NAX_GPU_DAY_JOBS", "2")],
                                        stdout=log, stderr=subprocess.STDOUT, timeout=left).returncode
            except subprocess.TimeoutExpired:
                status = None
        if status != 0:
            failed.append(f"{name} ({'time is up' if status is None else log.name})")
            continue
        noted = add_program(pack, name, program_file(build, target))
        noted["build_seconds"] = round(time.monotonic() - start)
        record["programs"][name] = noted
        with open(listed, "w") as file:
            json.dump(record, file, indent=1)
        print(f"gpu_day: {name}: {noted['bytes'] / 1e6:.1f} MB, packed {noted['packed'] / 1e6:.1f} MB, in {noted['build_seconds']} s", flush=True)
    add_data(pack)
    size = size_of(pack)
    print(f"gpu_day: {pack}: {size / (1 << 20):.1f} MiB, {len(record['programs'])} of {len(PROGRAMS)} programs, in {time.monotonic() - begin:.0f} s")
    for name in failed:
        print(f"gpu_day: not packed: {name}")
    if size > MOST_BYTES:
        raise SystemExit(f"gpu_day: the pack is larger than {MOST_BYTES >> 20} MiB: pack fewer --programs into a new folder")
    if failed:
        raise SystemExit(1)


def unpack(pack, out):
    """Programs that are newer in the pack than what was unpacked before; returns all by name: path and version."""
    with open(os.path.join(pack, "pack.json")) as file:
        record = json.load(file)
    folder = os.path.join(out, "bin")
    os.makedirs(folder, exist_ok=True)
    programs = {}
    for name, noted in record["programs"].items():
        path = os.path.join(folder, f"{name}.{noted['version']}")
        if not os.path.exists(path):
            for old in os.listdir(folder):
                if old.rsplit(".", 1)[0] == name:
                    os.remove(os.path.join(folder, old))
            with lzma.open(os.path.join(pack, "bin", name + ".xz")) as packed, open(path + ".new", "wb") as file:
                shutil.copyfileobj(packed, file)
            os.chmod(path + ".new", 0o755)
            os.replace(path + ".new", path)
        programs[name] = {"path": path, "version": noted["version"]}
    return record, programs
