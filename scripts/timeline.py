#!/usr/bin/env python3
"""Draws a timeline of nax::profiler as an SVG: for each lane what it did with its time, over time.

    NAX_TRACE=trace.json program
    python3 scripts/timeline.py trace.json -o timeline.svg

A column of a lane is a slice of time, its colours the shares of it: busy (operations, copies), in the stages of a
pipeline, waiting for data, waiting for others (collectives), idle; what is white is the rest of the program. An event within
another counts for itself, and the outer one for what is left; within a wait for data all but collectives is that wait.
The numbers at the right are shares of all the time shown.
"""

import argparse
import collections
import html
import json
import sys

KINDS = {  # kinds of events, and the share that each counts to
    "operation": "busy",
    "copy": "busy",
    "data": "pipeline",
    "wait for data": "data",
    "collective": "others",
    "idle": "idle",
}
SHARES = [  # colours that people who see fewer of them tell apart
    ("busy", "busy", "#2f6db3"),
    ("pipeline", "in the pipeline", "#5fb3a1"),
    ("data", "waiting for data", "#e7a33e"),
    ("others", "waiting for others", "#a8437f"),
    ("idle", "idle: no room for more", "#d5d9de"),
]
LABEL, PLOT, TOTALS, ROW, GAP, TOP = 150, 640, 190, 40, 10, 46


def read(path):
    """Names of lanes in their order, and each one's events as (begin, end, share), in microseconds."""
    try:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        names, lanes = {}, collections.defaultdict(list)
        for event in events:
            lane = (event.get("pid"), event.get("tid"))
            if event.get("ph") == "M" and event["name"] == "thread_name":
                names[lane] = event["args"]["name"]
            elif event.get("ph") == "X":
                begin = float(event["ts"])
                lanes[lane].append((begin, begin + float(event["dur"]), KINDS.get(event.get("cat"))))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"timeline: {path} is no trace: {error!r}")
    if not lanes:
        sys.exit(f"timeline: {path} has no events")
    order = [lane for lane in names if lane in lanes] + [lane for lane in lanes if lane not in names]
    return [(names.get(lane, f"lane {lane[1]}"), lanes[lane]) for lane in order]


def own_pieces(events):
    """(begin, end, share) that do not overlap: each moment is that of the innermost event around it."""
    pieces, open_events, at = [], [], None

    def pass_to(time):
        nonlocal at
        while open_events and open_events[-1][1] <= time:
            end, share = open_events[-1][1], open_events[-1][2]
            if end > at and share:
                pieces.append((at, end, share))
            at = max(at, end)
            open_events.pop()
        if open_events and time > at and open_events[-1][2]:
            pieces.append((at, time, open_events[-1][2]))
        at = time

    for event in sorted(events, key=lambda e: (e[0], -e[1])):
        at = event[0] if at is None else at
        pass_to(max(event[0], at))
        if open_events and open_events[-1][2] == "data" and event[2] != "others":
            event = (event[0], event[1], "data")  # a loop that makes its own elements waits for them
        open_events.append(event)
    pass_to(float("inf"))
    return pieces


def shares_of(pieces, begin, end, columns):
    """For each column how much of its time each share took, 0 to 1."""
    width = (end - begin) / columns
    result = [collections.Counter() for _ in range(columns)]
    for first, last, share in pieces:
        first, last = max(first, begin), min(last, end)
        column = int((first - begin) / width)
        while first < last and column < columns:
            until = min(last, begin + (column + 1) * width)
            result[column][share] += max(until - first, 0) / width
            first, column = max(first, until), column + 1
    return result


def steps_of(seconds):
    """A round step between marks, of which about eight fit."""
    step = 1e-9
    while True:
        for factor in (1, 2, 5):
            if seconds / (step * factor) <= 8:
                return step * factor
        step *= 10


def draw(lanes, begin, end, columns):
    height = TOP + len(lanes) * (ROW + GAP) + 34
    width = LABEL + PLOT + TOTALS
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    x = LABEL
    for _, text, colour in SHARES:
        out.append(f'<rect x="{x}" y="14" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{x + 17}" y="24">{text}</text>')
        x += 38 + 7 * len(text)
    seconds = (end - begin) * 1e-6
    step = steps_of(seconds)
    unit, scale = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    bottom = TOP + len(lanes) * (ROW + GAP)
    mark = 0
    while mark * step <= seconds * 1.000001:
        x = LABEL + PLOT * mark * step / seconds
        out.append(f'<path d="M{x:.1f} {TOP - 6}V{bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{mark * step * scale:.4g} {unit}</text>')
        mark += 1
    for row, (name, events) in enumerate(lanes):
        y = TOP + row * (ROW + GAP)
        shares = shares_of(own_pieces(events), begin, end, columns)
        shown = name if len(name) <= 20 else name[:19] + "…"
        out.append(f'<g><title>{html.escape(name)}</title>')
        out.append(f'<text x="{LABEL - 8}" y="{y + ROW / 2 + 4}" text-anchor="end">{html.escape(shown)}</text>')
        out.append(f'<rect x="{LABEL}" y="{y}" width="{PLOT}" height="{ROW}" fill="none" stroke="#bbb"/>')
        below = [0.0] * columns
        for key, _, colour in SHARES:  # one path a colour: rectangles upon each other
            path = []
            for column, of in enumerate(shares):
                part = min(of[key], 1 - below[column])
                if part < 0.002:
                    continue
                left, right = PLOT * column / columns, PLOT * (column + 1) / columns
                low = y + ROW * (1 - below[column])
                path.append(f"M{LABEL + left:.2f} {low:.2f}V{low - ROW * part:.2f}H{LABEL + right:.2f}V{low:.2f}Z")
                below[column] += part
            if path:
                out.append(f'<path fill="{colour}" d="{"".join(path)}"/>')
        totals = []
        for key, _, colour in SHARES:
            share = 100 * sum(of[key] for of in shares) / columns
            if share >= 0.5:
                totals.append(f'<tspan fill="{colour}" font-weight="bold">{share:.0f} %</tspan>')
        x = LABEL + PLOT + 10
        out.append(f'<text x="{x}" y="{y + ROW / 2 + 4}">{" · ".join(totals)}</text></g>')
    return "\n".join(out + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="what profiler::trace or NAX_TRACE wrote")
    parser.add_argument("-o", "--output", help="the SVG; else it is printed")
    parser.add_argument("--columns", type=int, default=320, help="slices of time (320)")
    parser.add_argument("--begin", type=float, default=0, help="seconds from the start of the trace (0)")
    parser.add_argument("--end", type=float, help="seconds from the start of the trace (its end)")
    options = parser.parse_args()
    lanes = read(options.trace)
    begin = options.begin * 1e6
    end = max(e[1] for _, events in lanes for e in events) if options.end is None else options.end * 1e6
    if end <= begin or options.columns < 1:
        sys.exit("timeline: there is no time between --begin and --end")
    svg = draw(lanes, begin, end, options.columns)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(svg)
    else:
        sys.stdout.write(svg)


if __name__ == "__main__":
    main()
