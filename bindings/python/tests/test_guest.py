"""A good guest in the process: Ctrl-C, fork, threads of Python, logging, bars, import."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import pmm
from helpers import SMALL, roads


def _script(body: str, *arguments: str) -> list[str]:
    start = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    return [sys.executable, "-c", start + textwrap.dedent(body), *arguments]


def _interrupted(body: str, *arguments: str) -> str:
    """Runs a script, sends Ctrl-C once it has printed `ready`, and returns what it says."""
    process = subprocess.Popen(_script(body, *arguments), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    return said


def test_ctrl_c_keeps_what_is_learned(tmp_path: Path) -> None:
    said = _interrupted(
        """
        import logging, pmm
        from helpers import SMALL, roads
        rows = roads()
        said = []
        class Ready(logging.Handler):
            def emit(self, record):
                if not said:
                    said.append(print("ready", flush=True))
        logging.getLogger("pmm").addHandler(Ready())
        logging.getLogger("pmm").setLevel(logging.INFO)
        try:
            pmm.fit(rows, steps=10**7, out=sys.argv[1], train__patience=10**6, train__validate_every=50, **SMALL)
        except KeyboardInterrupt as stop:
            print(type(stop).__name__, stop.model.sample(3).num_rows, stop.model.info()["fit"]["outcome"])
        """,
        str(tmp_path / "m.pmm"),
    )
    assert said == "FitInterrupted 3 stopped\n"
    assert pmm.load(tmp_path / "m.pmm", frame="pyarrow").sample(3).num_rows == 3


def test_ctrl_c_waits_for_the_step_that_is_under_way() -> None:
    """A step of seconds, and what comes after the last: what is learned is not thrown away for that."""
    said = _interrupted(
        """
        import pmm
        from pmm._running import Running
        from helpers import roads
        hear, said = Running._hear, []
        def heard(self, part, done, losses, notes):
            if losses[0] is not None and not said:
                said.append(print("ready", flush=True))
            hear(self, part, done, losses, notes)
        Running._hear = heard
        try:
            pmm.fit(roads(4000), steps=10**6, net__width=512, net__blocks=6, batch=2048, progress=False)
        except KeyboardInterrupt as stop:
            print(type(stop).__name__, stop.model.sample(1).num_rows)
        """
    )
    assert said == "FitInterrupted 1\n"


def test_ctrl_c_ends_a_long_sample(tmp_path: Path, road_model: Any) -> None:
    road_model.save(tmp_path / "m.pmm")
    said = _interrupted(
        """
        import pmm
        model = pmm.load(sys.argv[1])
        print("ready", flush=True)
        try:
            model.sample(10**9)
        except KeyboardInterrupt:
            print("stopped")
        """,
        str(tmp_path / "m.pmm"),
    )
    assert said == "stopped\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_fork_it_works(tmp_path: Path) -> None:
    """The child has none of its parent's threads: a pool of the parent's would be waited for until the time is over."""
    body = """
        import os, pmm
        from helpers import SMALL, roads
        model = pmm.fit(roads(), steps=20, **SMALL)
        expected = model.sample(20)
        child = os.fork()
        if child == 0:
            same = model.sample(20).equals(expected) and pmm.fit(roads(), steps=20, **SMALL).sample(20).equals(expected)
            same = same and len(model.predict(roads(), "minutes").mean()) == 400
            os._exit(0 if same else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), model.sample(20).equals(expected))
    """
    said = subprocess.run(_script(body), stdout=subprocess.PIPE, text=True, timeout=120, check=True).stdout
    assert said == "0 True\n"


def test_other_threads_go_on_while_it_works() -> None:
    """The interpreter's lock is released: a thread that only counts gets far while a fit runs."""
    counted, ended = [0], threading.Event()

    def count() -> None:
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    pmm.fit(roads(2000), steps=400, **SMALL)
    during = counted[0] - before
    ended.set()
    thread.join()
    assert during > 20, during


def test_fits_in_several_threads_are_those_made_alone() -> None:
    alone = pmm.fit(roads(), steps=30, **SMALL).sample(20)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(pmm.fit(roads(), steps=30, **SMALL).sample(20))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and all(rows.equals(alone) for rows in found)


def test_losses_go_through_logging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="pmm"):
        pmm.fit(roads(), steps=60, train__validate_every=20, **SMALL)
    assert sum("held out" in record.getMessage() for record in caplog.records) >= 2


def test_a_misspelled_column_is_a_warning(road_model: Any, road_rows: Any, caplog: pytest.LogCaptureFixture) -> None:
    rows = road_rows.slice(0, 5)
    road_model.predict(rows.drop_columns(["road"]), "road")
    assert not caplog.records, "that the column asked for is not given goes without saying"
    road_model.predict(rows.rename_columns([name.replace("minutes", "minuts") for name in rows.column_names]), "road")
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told == ["columns not in the model are ignored: minuts", "columns that are not given are unknown: minutes"]


def test_a_bar_is_shown_if_it_is_asked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {**SMALL, "progress": True, "steps": 3000}
    pmm.fit(roads(), **settings)
    assert "fitting" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setitem(sys.modules, "tqdm.std", None)
    pmm.fit(roads(), **settings)
    assert "█" in capsys.readouterr().err
    settings["progress"] = None
    pmm.fit(roads(), **settings)
    assert capsys.readouterr().err == "", "nobody watches"


def test_models_show_themselves(road_model: Any, road_rows: Any, tmp_path: Path) -> None:
    page = road_model._repr_html_()
    assert "kilometres" in page and "<table>" in page
    assert "kilometres" in repr(road_model) and "400" in repr(road_model)
    report = road_model.evaluate(road_rows.slice(0, 200), train=road_rows.slice(200), out=tmp_path)
    assert "<iframe" in report._repr_html_() and report.figures["target"] == "minutes"
    assert len(report.scores) > 4 and report.scores[0].name in str(report)
    assert (tmp_path / "report.html").read_text() == report.html
    picture = road_model.trace(["kilometres"])
    assert picture._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
    picture.save(tmp_path / "trace.png")
    assert (tmp_path / "trace.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="gif"):
        picture.save(tmp_path / "trace.gif")


def test_import_takes_few_modules() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import pmm, sys; print(*{'pandas', 'polars', 'pyarrow', 'sklearn', 'tqdm'} & set(sys.modules))"],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout
    assert said.split() == []
