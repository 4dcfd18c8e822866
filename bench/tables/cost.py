"""`cost.py REPORT SECONDS COMMAND…`: runs the command, at most so many seconds, and writes its cost to REPORT as JSON.

A small process of its own, because Linux counts the memory of whoever starts a command as the command's own peak.
"""

import json
import os
import resource
import signal
import sys
import time


def main():
    report, limit, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    begin = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(limit)
    _, status = os.waitpid(child, 0)
    seconds, usage = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(report, "w") as file:
        json.dump({"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024}, file)
    sys.exit(abs(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main()
