"""Program of devices.sh: trains on each kind and number of devices, and writes devices.md, devices.json and charts."""

import argparse
import json
import os
import subprocess
import sys

import charts
import devices_model as model

arguments = argparse.ArgumentParser()
arguments.add_argument("what", nargs="?", default="all", choices=["all", "model"])
arguments.add_argument("--build", default="")
arguments.add_argument("--out", required=True)
arguments.add_argument("--quick", action="store_true")
arguments.add_argument("--emulated", action="store_true")
arguments.add_argument("--experiments", default="mnist,large")
arguments.add_argument("--cpu-devices", default="1")
arguments.add_argument("--model", default="")
options = arguments.parse_args()
os.makedirs(options.out, exist_ok=True)
card = dict(model.CARD)
for part in filter(None, options.model.split(",")):
    name, value = part.split("=")
    if name not in card:
        sys.exit(f"devices.sh: --model knows {', '.join(card)}, not {name}")
    card[name] = float(value)


def write(name, text):
    with open(os.path.join(options.out, name), "w") as file:
        file.write(text)


def program(platform):
    if platform == "cpu":
        return os.path.join(options.build, "device_training")
    return os.path.join(options.build, "device_training_emulated" if options.emulated else "device_training_cuda")


def jax_row(experiment, platform, count, sizes, batch):
    """Seconds of a step of the network in JAX; None if JAX has no such devices."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "devices_jax.py")
    done = subprocess.run([sys.executable, script, platform, str(count), ",".join(map(str, sizes)), str(batch)],
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout else {"present": False}


def train(experiment, platform, count, weak):
    e = model.EXPERIMENTS[experiment]
    batch, side, hidden, images, epochs = e["batch"], 224, e["sizes"][1:-1], e["images"], 3
    if options.quick:
        batch, side, hidden, images, epochs = 32, 16, [64] * len(hidden), 256, 2
    if weak:
        batch *= count
    sizes = [784 if experiment == "mnist" else side * side * 3, *hidden, 10]
    row = {"experiment": experiment, "platform": platform, "devices": count, "weak": weak, "sizes": sizes, "batch": batch,
           "present": False}
    command = [program(platform), "--platform", platform, "--devices", str(count), "--experiment", experiment, "--epochs",
               str(epochs), "--batch", str(batch), "--images", str(images), "--side", str(side), "--hidden",
               ",".join(map(str, hidden))]
    if experiment == "mnist" and os.environ.get("NAX_MNIST_DIR") and not options.quick:
        command += ["--data", os.environ["NAX_MNIST_DIR"]]
    if not os.path.exists(command[0]):
        return row
    environment = dict(os.environ)
    if options.emulated and platform == "cuda":
        environment["NAX_CUDA_DEVICES"] = str(count)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr, end="")
        return row
    row.update(json.loads(done.stdout))
    row["jax"] = jax_row(experiment, platform, count, sizes, batch) if not options.emulated else {"present": False}
    return row


def name_of(row):
    kind = "CPU" if row["platform"] == "cpu" else "emulated GPU" if options.emulated else "GPU"
    return f"{row['devices']} {kind}{'s' if row['devices'] > 1 else ''}"


def number(value, form="{:.3g}"):
    return form.format(value)


def table(rows):
    lines = ["| devices | scaling | batch | first epoch, s | later epochs, s | step, ms | of it all-reduce, ms | data, ms | images/s | loss | JAX step, ms | model's step, ms |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        head = f"| {name_of(row)} | {'weak' if row['weak'] else 'strong'} | {row['batch']} "
        if not row["present"]:
            lines.append(head + "| not present " + "| " * 8 + "|")
            continue
        paper = model.step(row["sizes"], row["batch"] / row["devices"], row["devices"], card)["step"]
        jax = row.get("jax", {})
        lines.append(head + "| " + " | ".join([
            number(row["first_epoch"]), number(row["later_epochs"]), number(row["step"] * 1e3), number(row["all_reduce"] * 1e3),
            number(row["data"] * 1e3), number(row["images_per_second"]), number(row["loss"]),
            number(jax["step"] * 1e3) if jax.get("present") else "not present",
            number(paper * 1e3) if row["platform"] == "cuda" else ""]) + " |")
    return "\n".join(lines) + "\n"


def paper(experiment):
    counts = [1, 2, 4, 8, 16, 64, 256, 1000]
    strong, weak = (model.scaling(experiment, counts, w, card) for w in (False, True))
    text = "| ranks | strong: step, ms | all-reduce, ms | speed-up | weak: step, ms | speed-up |\n|---|---|---|---|---|---|\n"
    for s, w in zip(strong, weak):
        text += (f"| {s['devices']} | {number(s['step'] * 1e3)} | {number(s['all_reduce'] * 1e3)} | {number(s['speed_up'])} | "
                 f"{number(w['step'] * 1e3)} | {number(w['speed_up'])} |\n")
    few = [1, 2, 4, 8, 16]
    write(f"{experiment}_model.svg", charts.lines(
        f"{experiment}: speed-up on paper", "times one device", few,
        {"ideal": few, "strong": [r["speed_up"] for r in model.scaling(experiment, few, False, card)],
         "weak": [r["speed_up"] for r in model.scaling(experiment, few, True, card)]}))
    return text, strong + weak


experiments = options.experiments.split(",")
for name in experiments:
    if name not in model.EXPERIMENTS:
        sys.exit(f"devices.sh: --experiments knows mnist and large, not {name}")
text, record = "# Training by kind and number of devices\n\n", {"card": card, "measured": [], "model": {}}
if options.what == "all":
    kinds = [("cpu", int(n)) for n in options.cpu_devices.split(",")] + [("cuda", n) for n in (1, 2, 4)]
    for experiment in experiments:
        rows = [train(experiment, platform, n, False) for platform, n in kinds]
        rows += [train(experiment, platform, n, True) for platform, n in kinds if n > 1]
        record["measured"] += rows
        shown = " (a quick run of small networks)" if options.quick else ""
        text += f"## {experiment}{shown}\n\n{table(rows)}\n"
        strong = [r for r in rows if not r["weak"]]
        labels = [name_of(r) for r in strong]
        at = lambda key: [r.get(key) if r["present"] else None for r in strong]
        write(f"{experiment}_epochs.svg", charts.bars(f"{experiment}: seconds of an epoch", "seconds", labels,
                                                     {"first": at("first_epoch"), "later": at("later_epochs")}))
        one = next((r["images_per_second"] for r in strong if r["platform"] == "cuda" and r["devices"] == 1 and r["present"]), None)
        cards = [r for r in strong if r["platform"] == "cuda"]
        write(f"{experiment}_speed_up.svg", charts.lines(
            f"{experiment}: speed-up over one GPU", "times", [r["devices"] for r in cards],
            {"ideal": [r["devices"] for r in cards],
             "measured": [r["images_per_second"] / one if one and r["present"] else None for r in cards]}))
        there = [r for r in strong if r["present"]]
        write(f"{experiment}_shares.svg", charts.stacked(
            f"{experiment}: a step", "milliseconds", [name_of(r) for r in there],
            {"compute": [max(r["step"] - r["all_reduce"], 0) * 1e3 for r in there],
             "all-reduce": [r["all_reduce"] * 1e3 for r in there], "data": [r["data"] * 1e3 for r in there]}))
        for chart in ("epochs", "speed_up", "shares"):
            text += f"![{chart}]({experiment}_{chart}.svg)\n"
        text += "\n"
for experiment in experiments:
    sizes = model.EXPERIMENTS[experiment]["sizes"]
    lines, record["model"][experiment] = paper(experiment)
    text += (f"## {experiment} on paper\n\n{model.parameters(sizes):,} parameters; a card of {card['flops']:.3g} operations, "
             f"{card['memory']:.3g} bytes of memory and {card['link']:.3g} bytes of link a second, {card['launch'] * 1e6:.3g} us a launch; "
             f"nothing overlaps.\n\n{lines}\n![model]({experiment}_model.svg)\n\n")
write("devices.md", text)
write("devices.json", json.dumps(record, indent=1) + "\n")
print(text)
