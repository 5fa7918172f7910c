"""Tests of gpu_day.py on a pack whose programs are scripts: steps, their order, retries, newer programs, tables."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

PEERS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, PEERS)
import gpu_day_pack  # noqa: E402
import gpu_day_tables  # noqa: E402


def call(*arguments):
    return subprocess.run([sys.executable, os.path.join(PEERS, "gpu_day.py"), "--emulated", "--pack-folder", pack, "--out", out, *arguments],
                          capture_output=True, text=True, timeout=50)


def put(name, script):
    data = script.encode()
    os.makedirs(pack + "_programs", exist_ok=True)
    with open(gpu_day_pack.stripped(pack, name), "wb") as file:
        file.write(data)
    record["programs"][name] = {"version": hashlib.sha256(data).hexdigest()[:12]}
    gpu_day_pack.write_archive(pack, record)
    with open(os.path.join(pack, "pack.json"), "w") as file:
        json.dump(record, file)


def results():
    with open(os.path.join(out, "gpu_day.json")) as file:
        return json.load(file)


def steps_of(said):
    return [line.split(": ")[1] for line in said.stdout.splitlines() if line.endswith(("passed", " s")) and line.count(": ") == 2]


HAZARDS = "#!/bin/sh\n[ $# = 0 ] && { echo smoke; echo first; echo second; exit 0; }\n[ $1 != second ]\n"
TESTS = ("#!/bin/sh\necho \"$NAX_GOLDENS_DIR\" > goldens\n[ -e good ] && { echo '[  PASSED  ] 3 tests.'; exit 0; }\n"
         "echo '[  FAILED  ] A.b, where x = 1 (3 ms)'\necho '[  FAILED  ] A.b'\nexit 1\n")
BANDWIDTH = '#!/bin/sh\necho \'{"group": "g", "kernel": "add", "bytes": 1000, "flops": 0, "seconds": 1e-6}\'\n'
PSUM = ('#!/bin/sh\necho "{\\"by\\": \\"psum\\", \\"devices\\": $1, \\"bytes\\": 1024, \\"seconds\\": 1e-6, \\"bus\\": 2$NAX_NCCL}"\n'
        '[ $NAX_NCCL = 1 ] && echo "{\\"by\\": \\"ncclAllReduce\\", \\"devices\\": $1, \\"bytes\\": 1024, \\"seconds\\": 1e-6, \\"bus\\": 30}"\nexit 0\n')
TRAINING = ("#!/bin/sh\necho \"$NAX_CUDA_DEVICES $@\" >> calls\necho '{\"present\": true, \"step\": 1e-3, \"all_reduce\": 0, \"images_per_second\": 5, \"loss\": 2}'\n")
SLOW = "#!/bin/sh\nsleep 300 & echo $! > sleeper\nwait\n"

with tempfile.TemporaryDirectory() as folder:
    pack, out = os.path.join(folder, "pack"), os.path.join(folder, "out")
    record = {"emulated": True, "commit": "c", "programs": {}}
    assert "there is no pack" in call().stderr
    os.makedirs(pack)
    put("gpu_hazards", "#!/bin/sh\necho none; exit 2\n")
    stopped = call()  # nothing else is tried where the first step fails
    assert stopped.returncode == 1 and "no card answers" in stopped.stderr and list(results()["steps"]) == ["facts and smoke"], stopped

    put("gpu_hazards", HAZARDS)
    put("gpu_device_test", TESTS)
    put("gpu_bandwidth", BANDWIDTH)
    copies = os.path.join(folder, "copies")
    said = call("--results", copies)
    assert said.returncode == 0, said
    done = results()["steps"]
    assert done["facts and smoke"]["passed"] and not done["hazards"]["passed"], done
    assert [row["passed"] for row in done["hazards"]["rows"]] == [2, 0], done["hazards"]
    assert done["device tests"]["failed_tests"] == ["A.b"] and not done["device tests"]["passed"], done["device tests"]
    assert done["operations"]["status"] == 127 and "not in the pack" in done["operations"]["output"][0], done["operations"]
    assert done["kernels beside PyTorch"]["rows"][0]["share_of_peak"] == 1 / 3350, done
    with open(os.path.join(out, "goldens")) as file:
        assert file.read().strip() == os.path.join(pack, "goldens")
    assert sorted(os.listdir(copies)) == ["gpu_day.json", "gpu_day.log", "gpu_day.md"]
    with open(os.path.join(copies, "gpu_day.md")) as file:
        text = file.read()
    assert text.startswith("Emulated") and "| second | 0 | 2 |" in text and "| g | add | 1 |" in text, text

    open(os.path.join(out, "good"), "w").close()  # what failed is tried again, what passed is not
    again = steps_of(call())
    assert "device tests" in again and "kernels beside PyTorch" not in again and "facts and smoke" not in again, again
    assert results()["steps"]["device tests"]["passed_tests"] == 3
    assert "device tests" not in steps_of(call())
    put("gpu_device_test", TESTS + "# newer\n")
    assert "device tests" in steps_of(call())
    assert steps_of(call("--only", "kernels beside PyTorch")) == ["kernels beside PyTorch"]
    assert "there is no step" in call("--only", "none").stderr

    put("gpu_psum", PSUM)  # on as many cards as there are
    put("device_training", TRAINING)
    for count in ("1", "4"):
        for step in ("psum", "scaling"):
            assert steps_of(call("--cards", count, "--only", step)) == [step]
        done = results()["steps"]
        assert [(row["devices"], row["of one card"]) for row in done["psum"]["rows"]] == {"1": [(2, True)], "4": [(2, False), (4, False)]}[count], done
        assert [row["devices"] for row in done["scaling"]["rows"]] == {"1": [1, 1] * 2, "4": [1, 2, 4, 2, 4, 1] * 2}[count], done
        with open(os.path.join(out, "calls")) as file:
            assert all(line.split()[0] == line.split()[4] for line in file), "devices"
    with open(os.path.join(out, "gpu_day.md")) as file:
        text = file.read()
    assert "| 4 | 1024 | 1 | 21 | 30 | 20 |" in text and "| large | 4 | cuda | weak | 128 | 1 |" in text, text

    put("gpu_bandwidth", SLOW)  # a call ends in its time, and what is cut short is tried again
    assert "waits for the next call" in call("--seconds", "0").stdout
    assert call("--seconds", "31", "--only", "kernels beside PyTorch").returncode == 0
    assert results()["steps"]["kernels beside PyTorch"]["status"] is None
    with open(os.path.join(out, "sleeper")) as file:  # with its children
        sleeper = file.read().strip()
    assert not os.path.exists(f"/proc/{sleeper}") or open(f"/proc/{sleeper}/stat").read().split()[2] == "Z", sleeper
    shutil.rmtree(pack + "_programs")  # the archive alone has the programs
    shutil.rmtree(os.path.join(out, "bin"))
    put("gpu_bandwidth", BANDWIDTH)
    assert sorted(gpu_day_pack.unpack(pack, out)[1]) == sorted(record["programs"])
    assert all(os.path.exists(of["path"]) for of in gpu_day_pack.unpack(pack, out)[1].values())

    page = os.path.join(folder, "page.md")
    with open(page, "w") as file:
        file.write(f"a\n{gpu_day_tables.BEGIN}old\n{gpu_day_tables.END}z\n")
    with open(os.path.join(folder, "tables.md"), "w") as file:
        file.write("new\n")
    gpu_day_tables.into_docs(page, os.path.join(folder, "tables.md"))
    with open(page) as file:
        assert file.read() == f"a\n{gpu_day_tables.BEGIN}\nnew\n\n{gpu_day_tables.END}z\n"
    listed = subprocess.run([sys.executable, os.path.join(PEERS, "gpu_day.py"), "--list"], capture_output=True, text=True).stdout
    assert "step facts and smoke" in listed and "program gpt: gpt" in listed, listed
