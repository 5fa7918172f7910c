"""Program of devices.sh: trains on each kind and number of devices, and writes devices.md, devices.json and charts."""

import argparse
import json
import os
import sys

import charts
import devices_model as model
import devices_rows
import gpu_day_pack

arguments = argparse.ArgumentParser()
arguments.add_argument("what", nargs="?", default="all", choices=["all", "model"])
arguments.add_argument("--build", default="")
arguments.add_argument("--pack", default="")
arguments.add_argument("--out", required=True)
arguments.add_argument("--quick", action="store_true")
arguments.add_argument("--emulated", action="store_true")
arguments.add_argument("--experiments", default="mnist,large")
arguments.add_argument("--cpu-devices", default="1")
arguments.add_argument("--model", default="")
options = arguments.parse_args()
os.makedirs(options.out, exist_ok=True)
if options.pack:
    pack, unpacked = gpu_day_pack.unpack(options.pack, options.out)
    if "device_training" not in unpacked:
        sys.exit(f"devices.sh: device_training is not in {options.pack}")
    options.emulated = pack["emulated"]
    programs = dict.fromkeys(("cpu", "cuda"), unpacked["device_training"]["path"])
else:
    programs = {"cpu": os.path.join(options.build, "device_training"),
                "cuda": os.path.join(options.build, "device_training_emulated" if options.emulated else "device_training_cuda")}
card = dict(model.CARD)
for part in filter(None, options.model.split(",")):
    name, value = part.split("=")
    if name not in card:
        sys.exit(f"devices.sh: --model knows {', '.join(card)}, not {name}")
    card[name] = float(value)


def write(name, text):
    with open(os.path.join(options.out, name), "w") as file:
        file.write(text)


def train(experiment, platform, count, weak):
    path = programs[platform]
    data = os.environ.get("NAX_MNIST_DIR")
    more = {"NAX_CUDA_DEVICES": str(count)} if options.emulated and platform == "cuda" else {}
    row = devices_rows.training(path, experiment, platform, count, weak, options.quick, data, **more)
    return row if options.emulated or not row["present"] else devices_rows.peers(row)


def name_of(row):
    kind = "CPU" if row["platform"] == "cpu" else "emulated GPU" if options.emulated else "GPU"
    return f"{row['devices']} {kind}{'s' if row['devices'] > 1 else ''}"


def number(value, form="{:.3g}"):
    return form.format(value)


def table(rows):
    lines = ["| devices | scaling | batch | first epoch, s | later epochs, s | step, ms | of it all-reduce, ms | data, ms | images/s | loss | JAX step, ms | PyTorch step, ms | model's step, ms |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        head = f"| {name_of(row)} | {'weak' if row['weak'] else 'strong'} | {row['batch']} "
        if not row["present"]:
            lines.append(head + "| not present " + "| " * 9 + "|")
            continue
        paper = model.step(row["sizes"], row["batch"] / row["devices"], row["devices"], card)["step"]
        lines.append(head + "| " + " | ".join([
            number(row["first_epoch"]), number(row["later_epochs"]), number(row["step"] * 1e3), number(row["all_reduce"] * 1e3),
            number(row["data"] * 1e3), number(row["images_per_second"]), number(row["loss"]),
            *(number(row[name]["step"] * 1e3) if row.get(name, {}).get("present") else "not present" for name in ("jax", "torch")),
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
