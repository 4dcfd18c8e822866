"""Writes the pages of results from the newest of every piece."""

import subprocess

import calls
import cifar
import classes
import feature_time
import inpaint
import learning
import mnist
import ten_steps
from measuring import ROOT, machine

PAGES = {"RESULTS.md": ("Images, measured", [ten_steps, learning, mnist, calls, classes, inpaint, feature_time]), "CIFAR.md": ("CIFAR-10, measured", [cifar])}


def commit():
    git = lambda *words: subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.strip()
    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return git("rev-parse", "--short", "HEAD") + changed


def write(bench):
    found = bench.found()
    days = sorted({piece["date"] for piece in found.values()})
    if not days:
        return
    about = [f"{' to '.join(dict.fromkeys([days[0], days[-1]]))}, {machine()}. Commit {commit()}. Made by `bench/images/run`; no accelerator.",
             "Times are of this machine as it was, other work on it included. Parts that have not been run are absent.", ""]
    for page, (title, parts) in PAGES.items():
        if lines := [line for part in parts for line in part.report(bench, found)]:
            (bench.base / page).write_text("\n".join([f"# {title}", "", *about, *lines]).rstrip("\n") + "\n")
