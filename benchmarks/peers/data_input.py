"""Program of data.sh: pipelines of nax, PyTorch's DataLoader, tf.data and Grain over the same data, in turns.

rows: 60000 rows of 784 bytes and a label, in a random order, in batches of 128. images: JPEGs of 500 x 375 pixels, decoded,
resized to 224 x 224 (bilinear, antialiased), in batches of 32; nothing looks at the batches. `scaled` lets the JPEG decoder
leave out what the size does not need, where a side can. A time is the best of all rounds; workers are threads of nax, tf.data
and Grain, processes of PyTorch; 0 of them is the loop's own thread (of tf.data one). --cpu counts the time of processors,
which says more than the clock on a machine that has other things to do.
"""

import argparse
import datetime
import os
import pathlib
import platform
import subprocess
import sys
import time

ROWS, BATCH, IMAGE_BATCH, SIZE = 60000, 128, 32, 224


def make_images(folder, count):
    import numpy as np
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    for i in range(count):
        path = folder / f"{i:05}.jpg"
        if path.exists():
            continue
        coarse = Image.fromarray(random.integers(0, 256, (24, 32, 3), np.uint8)).resize((500, 375), Image.BICUBIC)
        noise = random.normal(0, 6, (375, 500, 3))
        Image.fromarray(np.clip(np.asarray(coarse) + noise, 0, 255).astype(np.uint8)).save(path, quality=90)


def decode(path, scaled=False):
    import numpy as np
    from PIL import Image

    with Image.open(path) as image:
        if scaled:
            image.draft("RGB", (SIZE, SIZE))
        return np.asarray(image.convert("RGB").resize((SIZE, SIZE), Image.BILINEAR))


def table():
    import numpy as np

    return (np.arange(ROWS * 784) % 251).astype(np.uint8).reshape(ROWS, 784), np.arange(ROWS, dtype=np.int32)


class Files:  # of PyTorch and Grain
    def __init__(self, paths, scaled):
        self.paths, self.scaled = paths, scaled

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return decode(self.paths[i], self.scaled)


def torch_side(paths, workers):
    import torch
    from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

    torch.set_num_threads(max(workers, 1))
    dataset = TensorDataset(*map(torch.from_numpy, table()))
    loaders = {
        "rows": DataLoader(dataset, batch_size=BATCH, shuffle=True),
        # A list of indices at once: tensors take their rows in one call.
        "rows at once": DataLoader(dataset, sampler=BatchSampler(RandomSampler(dataset), BATCH, False), batch_size=None),
    }
    for name, scaled in ("images", False), ("scaled", True):
        loaders[name] = DataLoader(Files(paths, scaled), batch_size=IMAGE_BATCH, num_workers=workers,
                                   persistent_workers=workers > 0)
    return {name: lambda loader=loader: sum(len(b[0] if isinstance(b, list) else b) for b in loader)
            for name, loader in loaders.items()}, torch.__version__


def tf_side(paths, workers):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    n = max(workers, 1)
    tf.config.threading.set_intra_op_parallelism_threads(n)
    options = tf.data.Options()
    options.threading.private_threadpool_size = n
    options.threading.max_intra_op_parallelism = 1

    def read(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.cast(tf.round(tf.image.resize(image, (SIZE, SIZE), antialias=True)), tf.uint8)

    data = tf.data.Dataset
    sets = {
        "rows": data.from_tensor_slices(table()).shuffle(ROWS).batch(BATCH).prefetch(2),
        "images": data.from_tensor_slices(paths).map(read, num_parallel_calls=n).batch(IMAGE_BATCH).prefetch(2),
    }
    return {name: lambda d=d.with_options(options): sum((b[0] if isinstance(b, tuple) else b).shape[0] for b in d)
            for name, d in sets.items()}, tf.__version__


def grain_side(paths, workers):
    import grain

    x, y = table()

    class Rows:
        def __len__(self):
            return ROWS

        def __getitem__(self, i):
            return x[i], y[i]

    reading = grain.ReadOptions(num_threads=workers, prefetch_buffer_size=64 if workers else 0)
    source = grain.MapDataset.source
    sets = {"rows": source(Rows()).shuffle(seed=0).batch(BATCH).to_iter_dataset(reading)}
    for name, scaled in ("images", False), ("scaled", True):
        sets[name] = source(Files(paths, scaled)).batch(IMAGE_BATCH).to_iter_dataset(reading)
    return {name: lambda d=d: sum(len(b[0] if isinstance(b, tuple) else b) for b in d) for name, d in sets.items()}, \
        grain.__version__ if hasattr(grain, "__version__") else ""


def serve(side, folder, workers):
    paths = sorted(str(p) for p in folder.iterdir())
    epochs, version = {"torch": torch_side, "tf": tf_side, "grain": grain_side}[side](paths, workers)
    print(version, *epochs, sep=",", flush=True)
    for line in sys.stdin:
        start, busy = time.perf_counter(), time.process_time()
        n = epochs[line.strip()]()
        print(f"{time.perf_counter() - start:.6f} {time.process_time() - busy:.6f} {n}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="nax's side")
    parser.add_argument("--images", type=pathlib.Path, default=pathlib.Path("/tmp/nax_bench_images"))
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--cpu", action="store_true", help="count the time that processors were busy (not PyTorch's processes)")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return serve(options.side, options.images, options.workers)
    make_images(options.images, options.count)
    names = {"nax": "nax", "torch": "PyTorch", "tf": "tf.data", "grain": "Grain"}
    running, cases = {}, {}
    for side in names:
        if side == "nax":
            command, cases[side] = [options.program, options.images, str(options.workers)], ["rows", "images", "scaled"]
        else:
            command = [sys.executable, __file__, "--side", side, "--images", options.images, "--workers", str(options.workers)]
        process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=None if side == "nax" else subprocess.DEVNULL, text=True)
        if side != "nax":
            head = process.stdout.readline().strip().split(",")
            if len(head) < 2:
                print(f"{names[side]} is not there", file=sys.stderr)
                continue
            names[side] += " " + head[0]
            cases[side] = head[1:]
        running[side] = process
    best = {}
    for _ in range(options.rounds):
        for case in ["rows", "rows at once", "images", "scaled"]:
            for side, process in running.items():
                if case not in cases[side]:
                    continue
                process.stdin.write(case + "\n")
                process.stdin.flush()
                seconds, busy, n = process.stdout.readline().split()
                expected = ROWS if case.startswith("rows") else options.count
                if int(n) != expected:
                    sys.exit(f"{side}: {case} has {n} elements, not {expected}")
                seconds = float(busy if options.cpu else seconds)
                best[case, side] = min(best.get((case, side), 1e9), seconds)
    for process in running.values():
        process.stdin.close()
        process.wait()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {datetime.date.today()}, "
          f"workers: {options.workers}, best of {options.rounds}\n")
    print(f"| elements a second{' of a processor' if options.cpu else ''} |", " | ".join(names[s] for s in running), "|\n| --- |" + " ---: |" * len(running))
    for case in ["rows", "rows at once", "images", "scaled"]:
        count = ROWS if case.startswith("rows") else options.count
        print(f"| {case} |", " | ".join(f"{count / best[case, s]:.0f}" if (case, s) in best else "" for s in running), "|")


if __name__ == "__main__":
    main()
