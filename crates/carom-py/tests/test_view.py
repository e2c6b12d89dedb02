"""What `carom.view` gives to notebooks and files. How it looks and moves is tested in a browser, in `viewer/tests/widget.spec.ts`."""

from __future__ import annotations

import base64
import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carom


def messages(stream: bytes) -> list[tuple[int, bytes]]:
    """The chunks of a stream: kind and payload."""
    found, at = [], 0
    while at < len(stream):
        kind, length = struct.unpack_from("<II", stream, at)
        found.append((kind, stream[at + 8 : at + 8 + length]))
        at += 8 + length
    assert at == len(stream)
    return found


@pytest.fixture(scope="module")
def run() -> carom.Recording:
    return carom.run(Path(__file__).resolve().parents[3] / "cases/gallery/collision.toml")


def test_the_stream_is_the_run(run: carom.Recording) -> None:
    chunks = messages(carom.view(run)._stream)
    header = json.loads(chunks[0][1])
    assert [body["name"] for body in header["bodies"]] == [body.name for body in run.bodies]
    frames = b"".join(payload for kind, payload in chunks if kind == 2)
    size = (72 + 4 * 13 * len(run.bodies) + 7) // 8 * 8
    times, states = run.trajectory(run.bodies[1].name)
    assert len(frames) == size * len(times)
    for k, (time, position) in enumerate(zip(times, states.position)):
        assert struct.unpack_from("<d", frames, k * size)[0] == time
        drawn = np.frombuffer(frames, np.float32, 3, k * size + 72 + 52)
        assert np.array_equal(drawn, position.astype(np.float32))
    events = [event for kind, payload in chunks if kind == 3 for event in json.loads(payload)["events"]]
    assert [event["time"] for event in events] == run.events.time.tolist()
    assert [len(event["states"]) for event in events] == [2]
    assert json.loads(chunks[-1][1]) == {"stopped": "until", "notes": []}
    # A run that was saved and opened again is shown alike.
    again = carom.view(carom.Recording.__reduce__(run)[0](*run.__reduce__()[1]))
    assert again._stream == carom.view(run)._stream


def test_a_long_run_is_thinned() -> None:
    """The first and the last sample stay, and the view says what is left out."""
    balls = [carom.Body(f"ball{k}", carom.Sphere(0.1), mass=1.0, position=[k, 0, 0], velocity=[0, 0, 1]) for k in range(40)]
    run = carom.run(carom.Scene(body=list(balls)), until=1.0, sample=5e-5)
    chunks = messages(carom.view(run)._stream)
    frames = b"".join(payload for kind, payload in chunks if kind == 2)
    size = 72 + 4 * 13 * 40
    assert len(frames) <= (24 << 20) + size and len(frames) % size == 0
    times = [struct.unpack_from("<d", frames, at)[0] for at in range(0, len(frames), size)]
    assert times[0] == 0.0 and times[-1] == 1.0 and len(times) > 5000
    assert json.loads(chunks[-1][1])["notes"] == ["one in 2 of the 20001 samples is shown"]


def test_a_notebook_has_a_widget(run: carom.Recording) -> None:
    pytest.importorskip("anywidget")
    view = carom.view(run, height=300)
    bundle: Any = view._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert view.widget.height == 300 and view.time == 0.0
    view.time = 0.25
    assert view.widget.get_state()["time"] == 0.25
    # To the browser go the module and the stream, as bytes.
    state = view.widget.get_state()
    assert state["_stream"] == view._stream and "export{" in state["_esm"].replace(" ", "")


def test_without_anywidget_it_is_a_page(run: carom.Recording, tmp_path: Path) -> None:
    page = carom.view(run).save(tmp_path / "run.html").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=|@import", page.split("<script type=\"module\">")[0])
    inside = re.search(r"<script type=\"application/octet-stream\">(.*?)</script>", page)
    assert inside is not None and base64.b64decode(inside.group(1)) == carom.view(run)._stream
    assert page.count("</script>") == 2
    with pytest.raises(FileExistsError):
        carom.view(run).save(tmp_path / "run.html")
    carom.view(run).save(tmp_path / "run.html", force=True)
    code = """
import sys
sys.modules["anywidget"] = None
import carom
shown = carom.view(carom.run("cases/gallery/collision.toml"))
bundle = shown._repr_mimebundle_()
assert set(bundle) == {"text/plain", "text/html"} and bundle["text/html"].startswith("<iframe srcdoc=")
try:
    shown.time
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pip install 'carom[notebook]'" in done.stdout


def test_mistakes(run: carom.Recording) -> None:
    with pytest.raises(TypeError, match="expected a run, .* found dict"):
        carom.view({})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the run has no samples: give `sample`"):
        carom.view(carom.run("cases/gallery/collision.toml", sample=0))
    for height in (5, "tall", 1e9):
        with pytest.raises(carom.OptionError, match="height"):
            carom.view(run, height=height)  # type: ignore[arg-type]
