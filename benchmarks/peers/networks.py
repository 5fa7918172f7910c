"""The tables of networks.sh: networks.py PROGRAM FOLDER TURNS NAME...

Each network has the parameters that nax's side wrote, and its results are compared with nax's before it is timed.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from turns import Here, Nax, medians, session

program, folder, turns, names = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
torch.set_num_threads(1)
warnings.simplefilter("ignore")


def load(name):
    """The arrays of a safetensors file."""
    data = (folder / f"{name}.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    kinds = {"F32": np.float32, "I32": np.int32}
    arrays = {}
    for key, entry in json.loads(data[8 : 8 + size]).items():
        if key == "__metadata__":
            continue
        begin, end = (8 + size + i for i in entry["data_offsets"])
        arrays[key] = torch.from_numpy(np.frombuffer(data[begin:end], kinds[entry["dtype"]]).reshape(entry["shape"]).copy())
    return arrays


def close(name, got, want, tolerance):
    worst = float((got - want).abs().max() / want.abs().max())
    assert worst < tolerance, f"{name}: results differ by {worst:.2g} of the largest"


class Weights(dict):
    """Parameters by name as PyTorch has them, with channels last where `last`."""

    def __init__(self, arrays, last=False):
        super().__init__()
        for key, w in arrays.items():
            if not key.startswith("net."):
                continue
            if w.ndim == 4 and "up." in key:
                w = w.flip(0, 1).permute(2, 3, 0, 1)
            elif w.ndim == 4:
                w = w.permute(3, 2, 0, 1)
            elif w.ndim == 2 and key.endswith(".w"):
                w = w.T
            order = torch.channels_last if last and w.ndim == 4 else torch.contiguous_format
            self[key[4:]] = w.clone(memory_format=order)
        for key in [k for k in self if k.endswith("attention.params.query")]:
            at = key[: -len("query")]
            for ending, back in (("", lambda w: w.flatten(1).T), ("_bias", torch.flatten)):
                parts = [self.pop(at + part + ending, None) for part in ("query", "key", "value")]
                if parts[0] is not None:
                    self[at + "qkv" + ending] = torch.cat([back(w) for w in parts])
            self[at + "out"] = self[at + "out"].flatten(0, 1).T.contiguous()


def resnet(w, images, training, small):
    def layer(at, x, stride=1):
        kernel = w[at + ".conv.w"]
        x = F.conv2d(x, kernel, None, stride, kernel.shape[-1] // 2)
        stats = (None, None) if training else (w[at + ".stats.mean"], w[at + ".stats.var"])
        return F.batch_norm(x, *stats, w[at + ".norm.scale"], w[at + ".norm.bias"], training, eps=1e-5)

    x = F.relu(layer("stem", images, 1 if small else 2))
    if not small:
        x = F.max_pool2d(x, 3, 2, 1)
    for i in range(8):
        at, stride = f"blocks.{i}", 2 if i in (2, 4, 6) else 1
        y = layer(at + ".second", F.relu(layer(at + ".first", x, stride)))
        x = F.relu(y + (layer(at + ".shortcut", x, stride) if at + ".shortcut.conv.w" in w else x))
    return F.linear(x.mean((2, 3)), w["head.w"], w["head.b"])


def unet(w, images):
    def twice(at, x):
        for one in (at + ".first", at + ".second"):
            x = F.relu(F.conv2d(x, w[one + ".w"], w[one + ".b"], padding=1))
        return x

    def up(at, x):
        return F.conv_transpose2d(x, w[at + ".w"], w[at + ".b"], 2)

    a = twice("down.0", images)
    b = twice("down.1", F.max_pool2d(a, 2))
    c = twice("down.2", F.max_pool2d(b, 2))
    d = twice("rise.1", torch.cat([b, up("up.1", c)], 1))
    return F.conv2d(twice("rise.0", torch.cat([a, up("up.0", d)], 1)), w["head.w"], w["head.b"])


def gpt(w, text, heads, caches=None, read=0):
    """Logits; with caches those after `read` tokens, whose keys and values are there and get the new ones."""

    def norm(at, x):
        return F.layer_norm(x, x.shape[-1:], w[at + ".scale"], w[at + ".bias"], 1e-5)

    x = w["tokens.table"][text] + w["places.table"][read : read + text.shape[1]]
    for i in range(sum(key.endswith("wide.w") for key in w)):
        at = f"blocks.{i}."
        qkv = F.linear(norm(at + "first_norm", x), w[at + "attention.params.qkv"], w.get(at + "attention.params.qkv_bias"))
        q, k, v = qkv.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        if caches is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        elif isinstance(caches, list) and caches[i][0].shape[2] > read:  # room for the new ones
            for cache, new in zip(caches[i], (k, v)):
                cache[:, :, read : read + 1] = new
            y = F.scaled_dot_product_attention(q, *(cache[:, :, : read + 1] for cache in caches[i]))
        else:  # what there is and the new ones, as transformers does it
            caches[i] = [torch.cat([cache, new], 2) for cache, new in zip(caches[i], (k, v))]
            y = F.scaled_dot_product_attention(q, *caches[i])
        x = x + F.linear(y.transpose(1, 2).flatten(2), w[at + "attention.params.out"], w.get(at + "attention.params.out_bias"))
        y = F.gelu(F.linear(norm(at + "second_norm", x), w[at + "wide.w"], w.get(at + "wide.b")), approximate="tanh")
        x = x + F.linear(y, w[at + "narrow.w"], w.get(at + "narrow.b"))
    return F.linear(norm("norm", x), w["tokens.table"])


def training(name, arrays, losses_of, optimizer_of, lasts):
    """Steps by name: eager for each memory order, and by torch.compile."""
    steps = {}
    for last in lasts:
        for way in ("eager", "compile"):
            w = Weights(arrays, last)
            for key in w:
                w[key].requires_grad_(".stats." not in key)
            x = arrays["x"]
            if x.ndim == 4:
                x = x.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)
            loss_of = torch.compile(losses_of) if way == "compile" else losses_of
            update = optimizer_of(w)

            def step(w=w, x=x, loss_of=loss_of, update=update):
                loss = loss_of(w, x)
                loss.backward()
                update()
                return loss.detach()

            close(f"{name}, {way}", torch.stack([step() for _ in range(4)]), arrays["result"], 1e-3)
            steps[way + (" channels last" if last else "")] = step
    return steps


def stepped(optimizer, before=lambda: None):
    def update():
        before()
        optimizer.step()
        optimizer.zero_grad()

    return update


def trained(w):
    return [p for p in w.values() if p.requires_grad]


def resnet18_step(arrays):
    y = torch.arange(8)
    return training(
        "resnet18_step", arrays, lambda w, x: F.cross_entropy(resnet(w, x, True, True), y),
        lambda w: stepped(torch.optim.SGD(trained(w), lr=0.05, momentum=0.9, weight_decay=5e-4, fused=True)), (False, True))


def unet_step(arrays):
    y = arrays["y"].permute(0, 3, 1, 2)
    return training(
        "unet_step", arrays, lambda w, x: F.mse_loss(unet(w, x), y),
        lambda w: stepped(torch.optim.Adam(trained(w), lr=1e-3, fused=True)), (False, True))


def gpt_step(arrays):
    y = arrays["y"].long()

    def optimizer(w):
        groups = [{"params": [p for k, p in w.items() if ("norm" in k) != decays], "weight_decay": 0.1 * decays} for decays in (True, False)]
        adam = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)
        return stepped(adam, lambda: torch.nn.utils.clip_grad_norm_(trained(w), 1.0))

    return training(
        "gpt_step", arrays, lambda w, x: F.cross_entropy(gpt(w, x, 4).flatten(0, 1), y.flatten()), optimizer, (False,))


class Module(torch.nn.Module):
    """A function of weights for torch.onnx.export."""

    def __init__(self, w, f):
        super().__init__()
        self.w, self.f = w, f
        for i, (key, tensor) in enumerate(w.items()):
            self.register_buffer(f"w{i}", tensor)

    def forward(self, *inputs):
        return self.f(self.w, *inputs)


def runtime(path, inputs, want):
    """A call of ONNX Runtime, checked."""
    one = session(path)
    feed = {i.name: np.ascontiguousarray(x.numpy().astype({"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}[i.type]))
            for i, x in zip(one.get_inputs(), inputs)}
    close(path.name, torch.from_numpy(one.run(None, feed)[0]).reshape(want.shape), want, 1e-3)
    return lambda: one.run(None, feed)


def resnet18(arrays):
    x, want, ways = arrays["x"], arrays["result"], {}
    ways["ONNX Runtime, file of nax"] = runtime(folder / "resnet18.onnx", [x], want)
    images = x.permute(0, 3, 1, 2).contiguous()
    path = folder / "resnet18_torch.onnx"
    with torch.no_grad():
        torch.onnx.export(Module(Weights(arrays), lambda w, x: resnet(w, x, False, False)), (images,), str(path), dynamo=False)
    ways["ONNX Runtime, file of PyTorch"] = runtime(path, [images], want)
    for last in (False, True):
        w, at = Weights(arrays, last), images.contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)
        call = torch.inference_mode()(lambda w=w, at=at: resnet(w, at, False, False))
        close("resnet18, PyTorch", call(), want, 1e-3)
        ways["PyTorch" + (" channels last" if last else "")] = call
    return ways


def gpt2_token(arrays):
    text, want, read, ways = arrays["x"], arrays["result"], 128, {}
    kept = [[arrays[f"y.{i}.{part}"] for part in ("key", "value")] for i in range(12)]
    ways["ONNX Runtime, file of nax"] = runtime(folder / "gpt2_token.onnx", [text] + [x for pair in kept for x in pair], want)
    w = Weights(arrays)
    caches = [[x.transpose(1, 2).contiguous() for x in pair] for pair in kept]
    past = [[x[:, :, :read].contiguous() for x in pair] for pair in caches]

    def with_past(w, text, *past):
        pairs = {i: list(past[2 * i : 2 * i + 2]) for i in range(12)}
        logits = gpt(w, text, 12, pairs, read)
        return logits, *(x for pair in pairs.values() for x in pair)

    path = folder / "gpt2_token_torch.onnx"
    flat = [x for pair in past for x in pair]
    with torch.no_grad():
        torch.onnx.export(Module(w, with_past), (text.long(), *flat), str(path), dynamo=False)
    ways["ONNX Runtime, file of PyTorch"] = runtime(path, [text, *flat], want)
    call = torch.inference_mode()(lambda: gpt(w, text, 12, caches, read))
    close("gpt2_token, PyTorch", call(), want, 1e-3)
    ways["PyTorch"] = call
    low = {key: x.bfloat16() for key, x in w.items()}
    short = [[x.bfloat16() for x in pair] for pair in caches]
    ways["PyTorch bfloat16"] = torch.inference_mode()(lambda: gpt(low, text, 12, short, read))
    return ways


nax = Nax(program, folder, *names)
of_nax = {"gpt2_token": ("plain", "bfloat16")}
print("| network | side | ms |")
print("| --- | --- | ---: |")
for name in names:
    sides = [("nax, " + way, (nax, f"{name} {way}")) for way in of_nax.get(name, ("plain", "jit"))]
    sides += [(way, (Here(), call)) for way, call in globals()[name](load(name)).items()]
    for (way, _), taken in zip(sides, medians([side for _, side in sides], turns)):
        print(f"| {name} | {way} | {taken:.4g} |", flush=True)
