"""The tables of gpu_day.sh, as Markdown."""


def number(value):
    return "" if value is None else f"{value:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]) + "\n"


def state(step):
    return {None: "cut short", 127: "not done"}.get(step["status"], "passed" if step["passed"] else "failed")


def of_steps(steps):
    rows = []
    for name, step in steps.items():
        more = ""
        if "failed_tests" in step:
            more = f"{step['passed_tests']} tests passed, {len(step['failed_tests'])} failed: " + ", ".join(step["failed_tests"][:12])
        elif not step["passed"]:
            more = " ".join(step.get("output", [])[-2:])[:200]
        rows.append([name, state(step), step["seconds"], more.rstrip(": ")])
    return table(["step", "result", "seconds", "remarks"], rows)


def of_kernels(step):
    rows = []
    for row in step["rows"]:
        seconds, torch, jax = row["seconds"], row.get("torch_seconds"), row.get("jax_seconds")
        rows.append([row["group"], row["kernel"], number(seconds * 1e6), number(torch and torch * 1e6), number(torch and seconds / torch),
                     number(jax and jax * 1e6), number(jax and seconds / jax),
                     number(row["bytes"] / seconds / 1e9 or None), number(row["share_of_peak"] or None), number(row["flops"] / seconds / 1e12 or None),
                     number(row.get("spread")), number(row.get("clock") or None), number(row.get("watts") or None)])
    return table(["kind", "operation", "nax, µs", "PyTorch, µs", "nax / PyTorch", "JAX, µs", "nax / JAX", "GB/s", f"of {step['peak']:.0f} GB/s", "TFLOP/s",
                  "spread", "MHz", "W"], rows)


def of_scaling(rows):
    lines, alone = [], {}
    for row in rows:
        if not row["present"]:
            lines.append([row["experiment"], row["devices"], row["platform"], "weak" if row["weak"] else "strong", row["batch"], "not present"] + [""] * 6)
            continue
        rate = row["images_per_second"]
        if row["platform"] == "cuda" and row["devices"] == 1:
            alone[row["experiment"]] = rate
        one = alone.get(row["experiment"])
        peers = [number(row[name]["step"] * 1e3) if row.get(name, {}).get("present") else "" for name in ("jax", "torch")]
        lines.append([row["experiment"], row["devices"], row["platform"], "weak" if row["weak"] else "strong", row["batch"], number(row["step"] * 1e3),
                      *peers, number(row["all_reduce"] * 1e3), number(rate), number(one and rate / one), number(row["loss"])])
    return table(["network", "devices", "kind", "scaling", "batch", "step, ms", "JAX step, ms", "PyTorch step, ms", "of it all-reduce, ms", "images/s",
                  "times one card", "loss"], lines)


def of_psum(rows):
    bus = lambda row, by: number(row[by]["bus"]) if by in row else ""
    return table(["devices", "bytes", "psum, µs", "psum, GB/s", "ncclAllReduce, GB/s", "NAX_NCCL=0, GB/s"],
                 [[f"{r['devices']} of one card" if r["of one card"] else r["devices"], r["bytes"], number("psum" in r and r["psum"]["seconds"] * 1e6 or None),
                   bus(r, "psum"), bus(r, "ncclAllReduce"), bus(r, "without NCCL")] for r in rows])


def page(results):
    """The tables of the steps done so far. Where devices were emulated the first line says so: then no number means anything."""
    steps = results["steps"]
    text = ""
    if results["emulated"]:
        text += "Emulated devices: a trial of the program, whose numbers mean nothing.\n\n"
    facts = steps.get("facts and smoke", {}).get("facts", {})
    card = facts.get("card")
    if isinstance(card, list) and card:
        text += f"Measured on {card[-1].strip()} (name, memory, driver, clocks), commit {results.get('commit', '')}.\n\n"
    text += of_steps(steps)
    if "hazards" in steps and "rows" in steps["hazards"]:
        text += "\n" + table(["hazard", "passed", "of", "remarks"],
                             [[r["hazard"], r["passed"], r["of"], " ".join(r["output"])[:200]] for r in steps["hazards"]["rows"]])
    kernels = steps.get("kernels beside PyTorch", {})
    if kernels.get("rows"):
        text += "\n" + of_kernels(kernels)
    if steps.get("GPT beside PyTorch", {}).get("rows"):
        text += "\n" + table(["step of a GPT with Adam", "nax, ms", "tokens/s", "PyTorch, ms", "nax / PyTorch"],
                             [[r["step"], number(r["seconds"] * 1e3), number(r.get("tokens")), number(r["torch_seconds"] and r["torch_seconds"] * 1e3),
                               number(r["torch_seconds"] and r["seconds"] / r["torch_seconds"])] for r in steps["GPT beside PyTorch"]["rows"]])
    if steps.get("training", {}).get("rows"):
        text += "\n" + table(["784-512-512-10, batches of 128", "step, ms", "images/s", "loss"],
                             [[r["case"], number(r.get("step") and r["step"] * 1e3), number(r.get("images_per_second")), number(r.get("loss"))]
                              for r in steps["training"]["rows"]])
    if steps.get("psum", {}).get("rows"):
        text += "\n" + of_psum(steps["psum"]["rows"])
    if steps.get("scaling", {}).get("rows"):
        text += "\n" + of_scaling(steps["scaling"]["rows"])
    if steps.get("MNIST", {}).get("rows"):
        text += "\n" + table(["MNIST", "seconds", "last line"], [[r["program"], r.get("seconds", ""), r["says"]] for r in steps["MNIST"]["rows"]])
    return text


BEGIN, END = "<!-- gpu_day -->\n", "<!-- end of gpu_day -->\n"


def into_docs(page_path, tables_path):
    """Puts the tables between the two marks of the page."""
    with open(page_path) as file:
        text = file.read()
    with open(tables_path) as file:
        tables = file.read()
    if tables.startswith("Emulated"):
        raise SystemExit(f"gpu_day: {tables_path} is of emulated devices")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    with open(page_path, "w") as file:
        file.write(f"{before}{BEGIN}\n{tables}\n{END}{after}")
