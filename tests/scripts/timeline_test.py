"""scripts/timeline.py: shares of a trace that is known, and what is no trace."""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/timeline.py"
spec = importlib.util.spec_from_file_location("timeline", SCRIPT)
timeline = importlib.util.module_from_spec(spec)
spec.loader.exec_module(timeline)


def event(lane, kind, begin, end):
    return {"ph": "X", "name": "e", "cat": kind, "pid": 1, "tid": lane, "ts": begin, "dur": end - begin}


def name(lane, text):
    return {"ph": "M", "name": "thread_name", "pid": 1, "tid": lane, "args": {"name": text}}


# A scope around everything counts for nothing; the operation within the stage counts for itself.
events = [(0, 100, None), (10, 60, "pipeline"), (20, 30, "busy"), (60, 80, "data"), (90, 95, "busy")]
pieces = timeline.own_pieces(events)
assert sorted(pieces) == [(10, 20, "pipeline"), (20, 30, "busy"), (30, 60, "pipeline"), (60, 80, "data"), (90, 95, "busy")], pieces
# Work within the loop's call for its next element counts as waiting.
pieces_of_wait = timeline.own_pieces([(0, 50, "data"), (10, 40, "pipeline"), (20, 30, "others"), (60, 70, "idle")])
assert sorted(pieces_of_wait) == [(0, 10, "data"), (10, 20, "data"), (20, 30, "others"), (30, 40, "data"), (40, 50, "data"),
                                  (60, 70, "idle")], pieces_of_wait
shares = timeline.shares_of(pieces, 0, 100, 4)
expected = [{"pipeline": 10 / 25, "busy": 5 / 25}, {"busy": 5 / 25, "pipeline": 20 / 25}, {"pipeline": 10 / 25, "data": 15 / 25},
            {"data": 5 / 25, "busy": 5 / 25}]
for got, want in zip(shares, expected, strict=True):
    assert all(abs(got[key] - want.get(key, 0)) < 1e-9 for key in got | want), (got, want)

with tempfile.TemporaryDirectory() as folder:
    trace, svg = pathlib.Path(folder, "trace.json"), pathlib.Path(folder, "out.svg")
    run = lambda *words: subprocess.run([sys.executable, SCRIPT, trace, *words], capture_output=True, text=True)
    trace.write_text(json.dumps({"traceEvents": [
        name(0, "main"), name(1, "map '<f>'"), event(0, "wait for data", 0, 500), event(0, "operation", 500, 1000),
        event(0, "collective", 700, 800), event(1, "data", 0, 1000)]}))
    assert run("-o", str(svg)).returncode == 0
    texts = ["".join(t.itertext()) for t in xml.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "main" in texts and "map '<f>'" in texts, texts
    assert "40 % · 50 % · 10 %" in texts and "100 %" in texts, texts
    assert "1 ms" in texts, texts
    assert run("--begin", "2").returncode != 0
    for broken in "", "{}", "[1]", '{"traceEvents": []}', '{"traceEvents": [{"ph": "X"}]}':
        trace.write_text(broken)
        result = run()
        assert result.returncode == 1 and "timeline: " in result.stderr and "Traceback" not in result.stderr, result
