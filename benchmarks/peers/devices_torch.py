"""A training step of a multilayer perceptron in PyTorch, for devices_rows.py: platform, devices, sizes, batch; prints seconds a step.
Of several devices it is DistributedDataParallel's, a process each."""

import json
import os
import socket
import statistics
import sys
import time

import torch
import torch.distributed
import torch.nn.functional as F
from torch import nn

platform, count, sizes, batch = sys.argv[1], int(sys.argv[2]), [int(n) for n in sys.argv[3].split(",")], int(sys.argv[4])


def steps(rank, port):
    device = torch.device(platform, rank) if platform == "cuda" else torch.device("cpu")
    if platform == "cuda":
        torch.cuda.set_device(device)
    if platform == "cpu":
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // count))
    torch.manual_seed(0)
    layers = []
    for n, m in zip(sizes, sizes[1:]):
        layers += [nn.Linear(n, m, device=device), nn.ReLU()]
    network = nn.Sequential(*layers[:-1])
    if count > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        torch.distributed.init_process_group("nccl" if platform == "cuda" else "gloo", rank=rank, world_size=count)
        network = nn.parallel.DistributedDataParallel(network, device_ids=[rank] if platform == "cuda" else None)
    optimizer = torch.optim.SGD(network.parameters(), 0.01)
    each = batch // count
    x, y = torch.rand(each, sizes[0], device=device), torch.arange(each, device=device) % sizes[-1]
    times = []
    for _ in range(12):
        start = time.perf_counter()
        loss = F.cross_entropy(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    if rank == 0:
        print(json.dumps({"present": True, "step": statistics.median(times[2:])}), flush=True)
    if count > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    if platform == "cuda" and torch.cuda.device_count() < count:
        sys.exit(1)
    if count == 1:
        steps(0, 0)
    else:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            free = probe.getsockname()[1]
        torch.multiprocessing.spawn(steps, (free,), count)
