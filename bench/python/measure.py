"""What every measurement here has: wall and CPU seconds. On a machine that others use, the second are the ones to compare."""

import resource
import time


def cpu():
    """CPU seconds of this process, and of those that it has started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def timed(work):
    """What some work comes to, and its (wall, CPU) seconds."""
    begin, used = time.perf_counter(), cpu()
    result = work()
    return result, (time.perf_counter() - begin, cpu() - used)


def peak_mb():
    """The most memory that this process has had."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
