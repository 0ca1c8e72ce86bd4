"""The catalogue: its files in either form, and what can be fetched."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from robustlda.cli import cli
from robustlda.datasets import arrays, catalogue


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(catalogue.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def test_images_of_mat_files_are_turned_upright(folder):
    upright = np.arange(3 * 16).reshape(3, 4, 4)
    by_columns = upright.transpose(0, 2, 1).reshape(3, 16)
    savemat(folder / "Yale_32x32.mat", {"fea": by_columns.astype(np.uint8), "gnd": np.array([[1], [2], [2]])})
    X, y = catalogue.dataset_named("yale").load()
    assert_array_equal(X, upright.reshape(3, 16))
    assert_array_equal(y, [0, 1, 1])


def test_text_of_mat_files_is_filtered_like_that_of_sparse_files(folder):
    counts = sparse.csr_array(np.array([[101, 0, 60], [0, 5, 41]]))
    savemat(folder / "TDT2.mat", {"fea": counts, "gnd": np.array([[1], [2]])})
    X, y = catalogue.dataset_named("tdt2").load()
    assert_array_equal(X.toarray(), [[101, 60], [0, 41]])
    sparse.save_npz(folder / "tdt2.X.npz", sparse.csr_matrix(counts))
    np.save(folder / "tdt2.y.npy", y)
    assert_array_equal(catalogue.dataset_named("tdt2").load()[0].toarray(), X.toarray())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no mat file at all", "cannot be read as a .mat file"),
        ({"X": np.eye(2)}, "must contain the arrays fea and gnd"),
        ({"fea": np.eye(3), "gnd": np.array([1, 2])}, "every row needs one label"),
    ],
)
def test_bad_mat_files_are_rejected_in_one_sentence(folder, content, message):
    path = folder / "COIL20.mat"
    path.write_bytes(content) if isinstance(content, bytes) else savemat(path, content)
    with pytest.raises(ValueError, match=message):
        catalogue.dataset_named("coil20").load()


def test_what_is_missing_names_every_file_that_would_do(folder):
    with pytest.raises(ValueError, match=r"lacks orl.npz or ORL_32x32.mat or ORL.mat"):
        catalogue.dataset_named("orl")


def test_fetched_sets_are_written_to_the_folder_and_failures_reported(folder, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": ["1", "2", "?"], "b": pd.Categorical([0.5, 1, 2])})
    asked = []

    def openml(name, **settings):
        asked.append(name)
        if name == "vehicle":
            raise OSError("no network\nat all")
        return SimpleNamespace(data=table, target=["x", "y", "x"])

    faces = SimpleNamespace(images=rng.random((2, 64, 64)), target=np.array([0, 1]))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", openml)
    monkeypatch.setattr("sklearn.datasets.fetch_olivetti_faces", lambda: faces)
    result = CliRunner().invoke(cli, ["datasets", "--fetch"])
    assert result.exit_code == 0
    assert asked == ["vehicle", "dermatology"]
    assert "not fetched vehicle: OSError: no network" in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["dermatology.npz", "orl.npz"]
    X, y = catalogue.dataset_named("dermatology").load()
    assert_array_equal(X, [[1, 0.5], [2, 1], [np.nan, 2]])
    assert_array_equal(y, [0, 1, 0])
    X, _ = catalogue.dataset_named("orl").load()
    assert X.shape == (2, 1024)
    assert X[0, 0] == pytest.approx(255 * faces.images[0, :2, :2].mean())
    assert CliRunner().invoke(cli, ["datasets", "--fetch"]).exit_code == 0
    assert asked == ["vehicle", "dermatology", "vehicle"], "what is there is not fetched again"


def test_arrays_keep_labels_from_zero(folder):
    savemat(folder / "x.mat", {"fea": np.eye(3), "gnd": np.array([5, 9, 5])})
    assert_array_equal(arrays.read_mat(folder / "x.mat")[1], [0, 1, 0])
