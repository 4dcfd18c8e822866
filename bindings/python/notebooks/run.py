"""Runs the notebooks and keeps their outputs; with ``--check`` only sees that they run."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main(keeps: bool) -> None:
    for path in sorted(Path(__file__).parent.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
        if keeps:
            for cell in notebook.cells:
                cell.metadata.pop("execution", None)
            notebook.metadata.pop("jupytext", None)
            notebook.metadata.get("language_info", {}).pop("version", None)
            nbformat.write(notebook, path)
        print(f"{path.name} runs")


if __name__ == "__main__":
    main(keeps="--check" not in sys.argv[1:])
