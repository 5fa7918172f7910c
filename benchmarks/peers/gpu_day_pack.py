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
MOST_BYTES = 48 << 20  # of a pack
MOST_CARRIED = 64 << 20  # of a pack and the files that git tracks, which go to the machine with the card together
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 64 << 20}]  # programs share code: one archive is half of one for each

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


def stripped(pack, name):
    """Where a program lies until it is archived."""
    return os.path.join(pack + "_programs", name)


def add_program(pack, name, path):
    """Strips and notes a program. Its version is a part of its hash."""
    os.makedirs(pack + "_programs", exist_ok=True)
    subprocess.run(["strip", "-o", stripped(pack, name), path], check=True)
    with open(stripped(pack, name), "rb") as file:
        data = file.read()
    return {"version": hashlib.sha256(data).hexdigest()[:12], "bytes": len(data)}


def archive(pack):
    return os.path.join(pack, "programs.tar.xz")


def write_archive(pack, record):
    """One solid archive of all programs; those that were not built now come from the last one."""
    missing = [name for name in record["programs"] if not os.path.exists(stripped(pack, name))]
    if missing and os.path.exists(archive(pack)):
        extract(pack, {name: stripped(pack, name) for name in missing})
    with lzma.open(archive(pack) + ".new", "wb", filters=FILTERS) as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        for name in record["programs"]:
            if os.path.exists(stripped(pack, name)):
                tar.add(stripped(pack, name), arcname=name)
    os.replace(archive(pack) + ".new", archive(pack))


def extract(pack, paths):
    """Programs by name to their paths, in one pass."""
    with lzma.open(archive(pack)) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
        for member in tar:
            if member.name in paths:
                path = paths[member.name]
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path + ".new", "wb") as file:
                    shutil.copyfileobj(tar.extractfile(member), file)
                os.chmod(path + ".new", 0o755)
                os.replace(path + ".new", path)


def tracked_bytes():
    """Of the files that git tracks."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0")
    paths = [os.path.join(ROOT, name) for name in names if name]
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


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
    os.makedirs(pack, exist_ok=True)
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
        print(f"gpu_day: {name}: {noted['bytes'] / 1e6:.1f} MB, in {noted['build_seconds']} s", flush=True)
    write_archive(pack, record)
    add_data(pack)
    size, tracked = size_of(pack), tracked_bytes()
    print(f"gpu_day: {pack}: {size / (1 << 20):.1f} MiB beside {tracked / (1 << 20):.1f} MiB of tracked files, {len(record['programs'])} of {len(PROGRAMS)} programs, in {time.monotonic() - begin:.0f} s")
    for name in failed:
        print(f"gpu_day: not packed: {name}")
    if size > MOST_BYTES or size + tracked > MOST_CARRIED:
        raise SystemExit(f"gpu_day: the pack is larger than {MOST_BYTES >> 20} MiB, or than {MOST_CARRIED >> 20} MiB with the tracked files: "
                         "pack fewer --programs into a new folder")
    if failed:
        raise SystemExit(1)


def unpack(pack, out):
    """Programs that are newer in the pack than what was unpacked before; returns all by name: path and version."""
    with open(os.path.join(pack, "pack.json")) as file:
        record = json.load(file)
    folder = os.path.join(out, "bin")
    os.makedirs(folder, exist_ok=True)
    programs = {name: {"path": os.path.join(folder, f"{name}.{noted['version']}"), "version": noted["version"]}
                for name, noted in record["programs"].items()}
    fresh = {name: of["path"] for name, of in programs.items() if not os.path.exists(of["path"])}
    for old in os.listdir(folder):
        if old.rsplit(".", 1)[0] in fresh:
            os.remove(os.path.join(folder, old))
    if fresh:
        extract(pack, fresh)
    return record, programs
