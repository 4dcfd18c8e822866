"""The API against its own description: schemathesis makes requests up from /openapi.json, and no answer may be a server's fault or
other than described. described.py PMM BIN (where schemathesis is)"""

import pathlib
import re
import subprocess
import sys
import tempfile

program, binaries = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
TOKEN = "token-of-the-tests"
ROWS = "".join(f"{['dog', 'cat', 'bird'][i % 3]},{[4, 4, 2][i % 3]},{i % 7 + i % 3 * 10}.5\n" for i in range(200))

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder)
    (path / "pets.csv").write_text("kind,legs,weight\n" + ROWS)
    fit = [program, "fit", "pets.csv", "--steps", "30", "--set", "net.width=32", "--set", "net.blocks=1", "--quiet"]
    subprocess.run(fit, cwd=folder, check=True)
    serve = [program, "serve", folder, "--port", "0", "--no-open", "--token", TOKEN, "--max-rows", "2000", "--max-body", "1"]
    server = subprocess.Popen(serve, stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"page: (http://[^/]+)", server.stderr.readline())[1]
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        run = [binaries / "schemathesis", "run", f"{address}/openapi.json", "--url", address, "-H", f"Authorization: Bearer {TOKEN}",
               "--checks", checks, "--max-examples", "25", "--seed", "1", "--phases", "examples,coverage,fuzzing", "--request-timeout", "30",
               # A stream without an end until its fit has one.
               "--exclude-path", "/v1/fits/{name}/events"]
        sys.exit(subprocess.run(run, cwd=folder, timeout=600).returncode)
    finally:
        server.kill()
