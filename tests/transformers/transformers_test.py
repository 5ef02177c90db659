"""transformers loads what save_gpt() writes, and computes the same logits."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parents[1] / "build" / "transformers"
REQUIREMENTS = HERE / "requirements.txt"
# What OpenAI's own vocabulary makes of compare.TEXT.
IDS = [6109, 3626, 6100, 345, 11, 41492, 10545, 120, 95, 27764, 245, 32485, 628, 220, 836, 470, 50256]


def has_transformers(python):
    check = "import torch, transformers; assert transformers.__version__ == '5.24.0'"
    return subprocess.run([python, "-c", check], capture_output=True).returncode == 0


def install():
    """An environment of its own, made once; what went wrong, or None."""
    stamp, digest = ENVIRONMENT / "requirements.sha256", hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return None
    words = ""
    for python in dict.fromkeys([sys.executable, shutil.which("python3")]):
        steps = [[python, "-m", "venv", "--clear", ENVIRONMENT],
                 [ENVIRONMENT / "bin/python", "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "10",
                  "--requirement", REQUIREMENTS]]
        for step in steps:
            done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                words = (done.stdout.strip().splitlines() or ["no words"])[-1]
                break
        else:
            stamp.write_text(digest)
            return None
    return words


@pytest.fixture(scope="module")
def reference():
    """A Python with transformers: FIRSTLAYER_TRANSFORMERS_PYTHON, this one, or one installed for the purpose, which
    takes minutes and a gigabyte and so is done on request."""
    for python in (os.environ.get("FIRSTLAYER_TRANSFORMERS_PYTHON"), sys.executable):
        if python and has_transformers(python):
            return python
    if not ENVIRONMENT.exists() and "FIRSTLAYER_INSTALL_TRANSFORMERS" not in os.environ:
        pytest.skip("no transformers 5.24.0 here; with FIRSTLAYER_INSTALL_TRANSFORMERS=1 it is installed first")
    trouble = install()
    if trouble is not None:
        pytest.skip(f"transformers 5.24.0 cannot be installed here: {trouble}")
    return ENVIRONMENT / "bin/python"


@pytest.fixture(scope="module")
def results(reference, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([os.environ["FIRSTLAYER_MODELS"], folder], check=True)
    done = subprocess.run([reference, HERE / "compare.py", folder], env={**os.environ, "HF_HUB_OFFLINE": "1"},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["tied", "untied", "sinusoidal", "none", "no-layers", "vocabulary"])
def test_the_same_logits(results, name):
    result = results[name]
    assert result["difference"] < 1e-4 and result["largest"] > 1
    assert result["dtype"] == "torch.float32"
    assert result["loading"] == {}  # no tensor is missing, and none is too many


def test_what_is_not_gpt2_is_refused(results):
    assert "firstlayer_gpt" in results["rotary"]["refused"]


def test_the_tokenizer(results):
    assert results["vocabulary"]["ids"] == IDS
