"""Mistakes are exceptions with their place; physics without an answer is a value, or raised where that is asked for."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import carom

TOML = """carom = 1
[[body]]
name = "ball"
shape = { sphere = { radius = -1 } }
mass = "heavy"
"""


def test_a_scene_with_mistakes() -> None:
    with pytest.raises(carom.SceneError) as caught:
        carom.solve(TOML)
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, carom.CaromError)
    assert (error.file, error.line, error.column) == ("<str>", 4, 31)
    assert error.field == "body[0].shape.sphere.radius" and error.value == "-1"
    assert "greater than 0" in str(error.expected)
    assert [each.line for each in error.diagnostics] == [4, 5]
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.diagnostics == error.diagnostics


def test_the_messages_are_the_program_s(program: Any, tmp_path: Any) -> None:
    import json
    import os
    import subprocess

    path = tmp_path / "wrong.toml"
    path.write_text(TOML)
    done = subprocess.run(
        [os.environ["CAROM"], "solve", str(path), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    theirs = json.loads(done.stdout or done.stderr)["errors"]
    with pytest.raises(carom.SceneError) as caught:
        carom.solve(path)
    ours = [each._asdict() for each in caught.value.diagnostics]
    assert [{"file": str(path), **each} for each in ours] == theirs


def test_a_dict_and_a_scene_name_the_field() -> None:
    scene = carom.Scene(body=[carom.Body("ball", carom.Sphere(1.0), mass=-1.0)])
    for each in (scene, scene.to_dict()):
        with pytest.raises(carom.SceneError) as caught:
            carom.toi(each)
        assert caught.value.field == "body[0].mass"


def test_options() -> None:
    path = "cases/papers/sp_corner.toml"
    for question, words in [
        (lambda: carom.solve(path, law="newtn"), "law newtn"),
        (lambda: carom.solve(path, order=[0, 0, 1]), "order"),
        (lambda: carom.solve(path, order="backwards"), "order backwards"),
        (lambda: carom.solve(path, tolerance=1.0), "tolerance"),
        (lambda: carom.solve(path, max_steps=0), "max_steps"),
        (lambda: carom.solve(path, touching=-1.0), "touching"),
        (lambda: carom.gap(path, at=float("inf")), "at"),
        (lambda: carom.toi(path, until=0.0), "until"),
    ]:
        with pytest.raises(carom.OptionError, match=words):
            question()
    with pytest.raises(TypeError):
        carom.solve(path, lawn="newton")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        carom.solve(12)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no place in a scene"):
        carom.solve({"carom": 1, "body": [object()]})
    with pytest.raises(FileNotFoundError):
        carom.solve("cases/papers/nothing_here.toml")
    with pytest.raises(carom.SceneError):
        carom.solve({"carom": 1, "world": {"gravity": [float("nan"), 0, 0]}})
    with pytest.raises(TypeError, match="not both"):
        carom.generalized("cases/laws/cradle.toml", mass=[[1.0]])


def test_no_answer_is_raised_where_it_is_asked_for() -> None:
    path = "cases/laws/unequal_circuit.toml"
    answer = carom.generalized(path)
    assert not answer.consistent
    with pytest.raises(carom.PhysicsError, match="no solution") as caught:
        carom.generalized(path, strict=True)
    assert caught.value.answer.to_dict() == answer.to_dict()


def test_warnings() -> None:
    scene = carom.Scene(body=[carom.Body("ball", carom.Sphere(1.0), mass=1.0, orientation=[2, 0, 0, 0])])
    with pytest.warns(carom.SceneWarning, match="has length 2"):
        carom.solve(scene)


def test_answers_are_objects() -> None:
    answer = carom.solve("cases/papers/sp_corner.toml")
    assert answer.bodies.ellipsoid.velocity.dtype == float
    assert answer["bodies"]["ellipsoid"]["velocity"] is answer.bodies.ellipsoid.velocity
    assert answer.contacts.column("impulse").shape == (3,)
    assert "law" in answer and "law" in dir(answer) and len(answer) == len(list(answer))
    with pytest.raises(AttributeError, match="no nothing here"):
        answer.nothing
    assert "newton_lcp" in repr(answer)
    assert "<table>" in answer._repr_html_() and "<table>" in answer.contacts._repr_html_()
    assert pickle.loads(pickle.dumps(answer)).to_dict() == answer.to_dict()
    scene = carom.Scene(body=[carom.Body("<i>", carom.Sphere(1.0), mass=1.0)])
    assert "<i>" not in carom.solve(scene)._repr_html_()


@pytest.mark.filterwarnings("ignore::carom.SceneWarning")
def test_nothing_panics_on_damaged_scenes() -> None:
    """Scenes with a value exchanged for another of any kind: an answer, or an exception of ours, never a panic."""
    import random
    import tomllib
    from pathlib import Path

    root = Path(__file__).resolve().parents[3]
    scenes = [
        tomllib.loads((root / path).read_text())
        for path in (
            "cases/papers/sp_corner.toml",
            "cases/papers/dps_hinged_frames.toml",
            "cases/gallery/collision.toml",
            "cases/gallery/spring_at_a_wall.toml",
        )
    ]
    values = [
        None,
        True,
        -1,
        0,
        1e308,
        -1e-308,
        float("inf"),
        "ball",
        [],
        {},
        [1, 2, 3],
        [[1, 0], [0]],
        {"sphere": {"radius": 1}},
    ]
    source = random.Random(0)

    def places(node: Any, path: tuple[Any, ...] = ()) -> Any:
        yield path
        entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, entry in entries:
            yield from places(entry, (*path, key))

    answered = 0
    for _ in range(400):
        document = pickle.loads(pickle.dumps(source.choice(scenes)))
        *path, last = source.choice([place for place in places(document) if place])
        node = document
        for key in path:
            node = node[key]
        node[last] = source.choice(values)
        ask = source.choice(
            [
                carom.solve,
                carom.compare,
                carom.classify,
                carom.gap,
                carom.toi,
                carom.generalized,
                lambda scene: carom.run(scene, until=0.05, max_events=20),
            ]
        )
        try:
            ask(document)
            answered += 1
        except (carom.CaromError, TypeError):
            pass
    assert answered > 30


def test_an_overlap_is_told_in_one_way() -> None:
    balls = """carom = 1
[[body]]
name = "one"
shape = { sphere = { radius = 1 } }
mass = 1
[[body]]
name = "two"
shape = { sphere = { radius = 1 } }
mass = 1
position = [1.5, 0, 0]
"""
    for ask in (carom.solve, carom.compare, carom.classify, carom.toi, carom.run):
        with pytest.raises(carom.SceneError) as refused:
            ask(balls)
        (said,) = refused.value.diagnostics
        assert (said.line, said.field) == (10, "body[1].position")
        assert said.message == "`two` overlaps `one` by 0.5"
        assert said.expected == "bodies that touch or are apart"
    assert carom.gap(balls).pairs[0].gap == -0.5
