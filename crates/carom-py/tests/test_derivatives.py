"""Derivatives of runs: what the program says, as attributes and as a table."""

import pyarrow.parquet as parquet
import pytest

import carom
from carom import Body, Plane, Scene, Sphere, Surface


def drop(height: float = 1.5, restitution: float = 0.5) -> Scene:
    ball = Body("ball", Sphere(0.5), mass=2.0, position=[0, 0, height])
    floor = Plane("floor", normal=[0, 0, 1])
    return Scene(world={"gravity": [0, 0, -2]}, surface=Surface(restitution=restitution), body=[ball], plane=[floor])


def test_derivatives_are_those_of_the_closed_form():
    found = carom.run(drop(), until=1.5, sample=0, derivatives=["body.ball.position[2]", "surface.restitution"])
    said = found.derivatives
    assert list(said.parameters) == ["body.ball.position[2]", "surface.restitution"]
    # Falls from h = 1 in √h at 2√h; after that z = ½ + 2e√h τ − τ², τ = ½.
    assert [float(x) for x in said.events[0].time] == pytest.approx([0.5, 0.0], abs=1e-14)
    assert [float(x) for x in said.final.ball.velocity[2]] == pytest.approx([0.5 + 1.0, 2.0], abs=1e-14)
    assert float(said.final.ball.position[2][1]) == pytest.approx(1.0, abs=1e-14)
    assert len(said.undefined) == 0


def test_where_there_is_none_it_says_why():
    said = carom.run(drop(restitution=0.0), until=2.0, sample=0, derivatives=["world.gravity"]).derivatives
    assert said.final.ball is None
    assert said.undefined[0].cause == "persistent"


def test_a_wrong_path_is_an_error_of_the_option():
    with pytest.raises(carom.OptionError, match="no body `bal`"):
        carom.run(drop(), derivatives=["body.bal.mass"])
    with pytest.raises(TypeError):
        carom.run(drop(), derivatives="body.ball.mass")


def test_a_saved_run_has_their_table(tmp_path):
    carom.run(drop(), until=1.5, sample=0, derivatives=["surface.restitution"]).save(tmp_path / "run")
    table = parquet.read_table(tmp_path / "run" / "derivatives.parquet")
    assert table.num_rows == 13 + 2
