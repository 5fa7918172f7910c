"""How long a training step should take, on paper: what devices.py puts beside what it measures.

A step of a multilayer perceptron is, for each layer and each image, three products of matrices (forward, gradient by the
input, gradient by the weights; the first layer needs no gradient by its input), each of 2 n m operations. The weights are
read three times and written once. Gradients meet in a ring: each of n devices sends and receives 2 (n - 1) / n of all bytes.
A launch costs the host some microseconds, and nothing is faster than that.
"""

CARD = {"flops": 19.5e12, "memory": 2.0e12, "link": 300e9, "launch": 4e-6}
EXPERIMENTS = {
    "mnist": {"sizes": [784, 512, 512, 10], "batch": 128, "images": 60000},
    "large": {"sizes": [224 * 224 * 3, 4096, 4096, 4096, 4096, 10], "batch": 128, "images": 1024},
}


def parameters(sizes):
    return sum(n * m + m for n, m in zip(sizes, sizes[1:]))


def operations(sizes, images):
    products = [2 * n * m for n, m in zip(sizes, sizes[1:])]
    return images * (3 * sum(products) - products[0])


def all_reduce_bytes(sizes, devices):
    return 4 * parameters(sizes) * 2 * (devices - 1) / devices


def step(sizes, images, devices, card=CARD):
    """Seconds of a step in which each device has `images`: its parts, and the whole without any overlap."""
    compute = operations(sizes, images) / card["flops"]
    moved = 4 * (4 * parameters(sizes) + 3 * images * sum(sizes)) / card["memory"]
    launches = (6 * (len(sizes) - 1) + 4) * card["launch"]
    reduce = all_reduce_bytes(sizes, devices) / card["link"] + (2 * (devices - 1) * 2e-6 if devices > 1 else 0)
    alone = max(compute, moved, launches)
    return {"compute": compute, "memory": moved, "launches": launches, "all_reduce": reduce, "step": alone + reduce}


def scaling(name, counts, weak, card=CARD, sizes=None, batch=None):
    """Rows (devices, parts of a step, speed-up over one device), of images a second."""
    e = EXPERIMENTS[name]
    sizes, batch = sizes or e["sizes"], batch or e["batch"]
    rows, alone = [], None
    for n in counts:
        each = batch if weak else batch / n
        parts = step(sizes, each, n, card)
        rate = each * n / parts["step"]
        alone = alone or rate
        rows.append({"devices": n, "weak": weak, **parts, "images_per_second": rate, "speed_up": rate / alone})
    return rows
