"""Tables of results as Markdown."""

from statistics import mean, stdev


def table(head, lines):
    rule = ["---" if i == 0 else "--:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(str(c) for c in line) + " |" for line in [head, rule, *lines])


def digits(x):
    return 0 if abs(x) >= 1000 else 1 if abs(x) >= 100 else 2 if abs(x) >= 10 else 3


def show(x, places=None):
    return "–" if x is None else f"{x:.{digits(x) if places is None else places}f}"


def spread(values, places=None):
    """Mean ± standard deviation over seeds; the mean alone of one."""
    values = [v for v in values if v is not None]
    if not values:
        return "–"
    m = mean(values)
    places = digits(m) if places is None else places
    return f"{m:.{places}f}" + (f" ± {stdev(values):.{places}f}" if len(values) > 1 else "")


def column(records, name):
    return [r[name] for r in records if r.get(name) is not None]


def average(records, name):
    values = column(records, name)
    return mean(values) if values else None


def failures(records):
    lines = [f"- {r['table']}, {r['method']}, seed {r['seed']}: `{r['error']}`" for r in records if "error" in r]
    return "\n\nFailed:\n\n" + "\n".join(lines) if lines else ""
