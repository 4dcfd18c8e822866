"""Load on loopback by wrk: load.py PMM [memory]. Servers take turns; the figures are medians over rounds."""

import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

here = pathlib.Path(__file__).parent
program = sys.argv[1]
TOKEN = "token-of-the-bench"
ROUNDS, SECONDS, CONNECTIONS = int(os.environ.get("ROUNDS", 5)), int(os.environ.get("SECONDS", 4)), 4
penguins = here / "../../crates/pmm-cli/data/penguins.csv"


def requests(folder):
    """What is asked: the path at each server, and the body."""
    columns = ["species", "island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "sex"]
    row = ["Gentoo", "Biscoe", 47.5, 15.1, 215, "MALE"]
    predict = "/v1/models/penguins/predict?target=body_mass_g"
    return [
        ("predict 1 row", predict, "/predict", {"columns": columns, "rows": [row]}),
        ("predict 1,000 rows", predict, "/predict", {"columns": columns, "rows": [row] * 1000}),
        ("sample 1,000 rows", "/v1/models/penguins/sample", "/sample", {"count": 1000}),
    ]


def wrk(url, body, seconds=SECONDS):
    script = "wrk.method = 'POST'\nwrk.body = [==[" + json.dumps(body) + "]==]\nwrk.headers['Content-Type'] = 'application/json'\n"
    script += f"wrk.headers['Authorization'] = 'Bearer {TOKEN}'\n"
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        command = ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{seconds}s", "--latency", "--timeout", "30s", "-s", file.name, url]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        raise SystemExit(f"{url}: {out}")
    unit = {"us": 1e-3, "ms": 1.0, "s": 1e3}
    def quantile(share):
        number, name = re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", out).groups()
        return float(number) * unit[name]
    done = int(re.search(r"(\d+) requests in", out)[1])
    return done, float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), quantile(50), quantile(99)


def processor(pid):
    """Milliseconds of processor time so far: what a busy machine does not change much."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def resident(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def start(command, port, **more):
    """A server, once it answers; one that has ended is noticed."""
    server = subprocess.Popen(command, **more)
    for _ in range(600):
        if server.poll() is not None:
            raise SystemExit(f"{command[0]} has ended")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1)
            return server
        except urllib.error.HTTPError:
            return server
        except OSError:
            time.sleep(0.1)
    server.kill()
    raise SystemExit(f"{command[0]} does not answer")


def start_ours(folder):
    port = free_port()
    command = [program, "serve", folder, "--port", str(port), "--no-open", "--token", TOKEN]
    return start(command, port, stderr=subprocess.DEVNULL), f"http://127.0.0.1:{port}"


def start_theirs(folder):
    port = free_port()
    environment = os.environ | {"MODEL": f"{folder}/penguins.pmm", "TARGET": "body_mass_g"}
    command = [here / ".venv/bin/uvicorn", "app:app", "--port", str(port), "--log-level", "warning"]
    return start(command, port, cwd=here, env=environment), f"http://127.0.0.1:{port}"


def compare(folder):
    ours, our_place = start_ours(folder)
    theirs, their_place = start_theirs(folder)
    try:
        print("| request | server | requests/s | p50, ms | p99, ms | processor time, ms |\n|---|---|---|---|---|---|")
        for name, path, other, body in requests(folder):
            servers = {"pmm serve": (our_place + path, ours.pid), "FastAPI + uvicorn": (their_place + other, theirs.pid)}
            found = {server: [] for server in servers}
            for round in range(ROUNDS):
                # Each is first in turn.
                for server in sorted(servers, reverse=round % 2 == 0):
                    url, pid = servers[server]
                    before = processor(pid)
                    done, *figures = wrk(url, body)
                    found[server].append((*figures, (processor(pid) - before) / max(done, 1)))
            for server, rounds in found.items():
                rate, p50, p99, spent = (statistics.median(values) for values in zip(*rounds))
                print(f"| {name} | {server} | {rate:.1f} | {p50:.2f} | {p99:.2f} | {spent:.2f} |", flush=True)
    finally:
        ours.kill()
        theirs.kill()


def memory(folder):
    """Resident memory as requests go by: after warming up it should not grow."""
    server, place = start_ours(folder)
    (_, path, _, body), *_ = requests(folder)
    try:
        done = 0
        print("| requests | resident, MB |\n|---|---|")
        while done < 100_000:
            done += wrk(place + path, body, 5)[0]
            print(f"| {done} | {resident(server.pid):.1f} |", flush=True)
    finally:
        server.kill()


with tempfile.TemporaryDirectory() as folder:
    # How long an answer takes does not depend on how long was learned.
    fit = [program, "fit", str(penguins.resolve()), "--out", f"{folder}/penguins.pmm", "--target", "body_mass_g", "--steps", "300", "--quiet"]
    subprocess.run(fit, check=True)
    memory(folder) if sys.argv[2] == "memory" else compare(folder)
