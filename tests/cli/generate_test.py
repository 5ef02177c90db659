"""generate: text from a model. The models here have no blocks and write a text that is told to them: position t has a
vector of its own, and the head gives the token that is to follow there the largest logit."""

import json
import os
import signal
import subprocess

import pytest
from tensor_files import write_safetensors

END = 50256


def config(**changes):
    return {"vocab_size": 50257, "n_positions": 8, "n_embd": 8, "n_layer": 0, "n_head": 1, "tie_word_embeddings": False,
            **changes}


@pytest.fixture
def model(tmp_path):
    """model(ids) makes a folder with a network of eight places that writes ids[t] behind the id at place t."""

    def write(ids, name="model", vocabulary=50257, **changes):
        folder = tmp_path / name
        folder.mkdir()
        head = [0.0] * (vocabulary * 8)
        for place, token in enumerate(ids):
            head[token * 8 + place] = 50.0
        places = [10.0 if i == j else 0.0 for i in range(8) for j in range(8)]
        write_safetensors(folder / "model.safetensors", {
            "wte.weight": ([vocabulary, 8], [0.0] * (vocabulary * 8)), "wpe.weight": ([8, 8], places),
            "ln_f.weight": ([8], [1.0] * 8), "ln_f.bias": ([8], [0.0] * 8), "lm_head.weight": ([vocabulary, 8], head)})
        (folder / "config.json").write_text(json.dumps(config(vocab_size=vocabulary, **changes)))
        return name

    return write


def ids_of(ok, text):
    return [int(word) for word in ok("encode", "--text", text).split()]


def generate(name, *flags, text="a"):
    return ("generate", "--weights", name, "--text", text, *flags)


def test_text(ok, model):
    name = model(ids_of(ok, " cat sat.") + [END])
    assert ok(*generate(name, "--greedy")) == b"a cat sat.\n"
    assert ok(*generate(name, "--greedy", "--tokens", "1")) == b"a cat\n"
    assert ok(*generate(name, "--top-k", "1", "--seed", "9")) == b"a cat sat.\n"
    assert ok(*generate(name, "--temperature", "0.01")) == b"a cat sat.\n"
    assert ok("generate", "--weights", f"{name}/model.safetensors", "--greedy", input=b"a") == b"a cat sat.\n"
    assert ok(*generate(name, "--greedy", "--bf16")) == b"a cat sat.\n"  # these weights are exact in 16 bits


def test_json(ok, model):
    sat = ids_of(ok, " cat sat.")
    report = json.loads(ok(*generate(model(sat + [END]), "--greedy", "--json", "--seed", "3")))
    assert report == {"prompt": "a", "text": " cat sat.", "prompt_ids": [64], "ids": sat, "end": "end of text",
                      "seed": 3}


def test_without_a_prompt_a_text_begins(ok, model):
    name = model(ids_of(ok, "The cat"))
    assert ok(*generate(name, "--greedy", "--tokens", "2", text="")) == b"The cat\n"
    report = json.loads(ok(*generate(name, "--tokens", "1", "--json", text="")))
    assert (report["prompt"], report["prompt_ids"]) == ("", [])


def test_seeds(ok, model):
    name = model([])  # every token is as likely
    flags = generate(name, "--tokens", "6", "--json")
    assert ok(*flags, "--seed", "1") == ok(*flags, "--seed", "1", "--threads", "3")
    assert json.loads(ok(*flags, "--seed", "1"))["ids"] != json.loads(ok(*flags, "--seed", "2"))["ids"]


def test_characters_are_not_split(command, ok, model, tmp_path):
    text = "漢字🙂"
    ids = ids_of(ok, text)
    assert len(ids) > 3  # more tokens than characters
    name = model(ids + [END])
    with subprocess.Popen([command, *generate(name, "--greedy")], stdout=subprocess.PIPE, cwd=tmp_path) as process:
        shown = ""
        while part := os.read(process.stdout.fileno(), 65536):
            shown += part.decode()
    assert shown == "a" + text + "\n"
    cut = ok(*generate(name, "--greedy", "--tokens", "1"))
    assert cut == b"a" + ok("decode", ids[0]) + b"\n"


def test_end_of_the_context(firstlayer, ok, model):
    name = model(ids_of(ok, " a b c d e f g h"))
    done = firstlayer(*generate(name, "--greedy"))
    assert (done.returncode, done.stdout) == (0, b"a a b c d e f g h\n")
    assert done.stderr == b"the context of 8 ids is full; --when-full slide goes on\n"
    assert firstlayer(*generate(name, "--greedy", "--quiet")).stderr == b""
    assert json.loads(ok(*generate(name, "--greedy", "--json")))["end"] == "context"
    # The last four ids are read anew, so what follows them is what follows at place 3.
    slid = ok(*generate(name, "--greedy", "--when-full", "slide", "--tokens", "12"))
    assert slid == b"a a b c d e f g h d e f g\n"


def test_a_prompt_that_is_too_long(ok, fails, model):
    name = model(ids_of(ok, " a b"))
    words = fails(3, *generate(name, text="a" + " b" * 8))
    assert "the prompt has 9 ids, the context of the model 8" in words and "--when-full slide" in words
    assert ok(*generate(name, "--when-full", "slide", "--tokens", "1", text="a" + " b" * 8)).startswith(b"a b")


def test_vocabularies(ok, fails, model, tmp_path):
    words = fails(3, *generate(model([], "small", vocabulary=100)))
    assert "100 tokens" in words and "50,257" in words
    name = model(ids_of(ok, " cat") + [50300], "padded", vocabulary=50304)  # no token of GPT-2's is 50300
    ids = json.loads(ok(*generate(name, "--greedy", "--json", "--tokens", "2")))["ids"]
    assert ids[0] == 3797 and ids[1] < 50257
    (tmp_path / "padded/vocab.json").write_text('{"!": 1}')
    assert "is not the vocabulary gpt2: id 1" in fails(3, *generate("padded"))


def test_files_that_are_no_model(fails, model, tmp_path):
    name = model([])
    assert "expected --weights" in fails(2, "generate", "--text", "a")
    assert "gone" in fails(4, *generate("gone"))
    (tmp_path / "empty").mkdir()
    assert "model.safetensors" in fails(4, *generate("empty"))
    path = tmp_path / name / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    assert "cut off" in fails(3, *generate(name))
    (tmp_path / name / "config.json").write_text(json.dumps(config(activation_function="relu")))
    path.unlink()
    write_safetensors(path, {"wte.weight": ([50257, 8], [0.0] * (50257 * 8))})
    assert "activation_function" in fails(3, *generate(name))


@pytest.mark.parametrize("flag, value", [("--temperature", "0"), ("--temperature", "-1"), ("--temperature", "nan"),
                                         ("--temperature", "1x"), ("--top-p", "0"), ("--top-p", "1.1"),
                                         ("--top-k", "-1"), ("--tokens", "0"), ("--when-full", "wait")])
def test_flags(fails, flag, value):
    words = fails(2, *generate("model", flag, value))
    assert flag in words and f'"{value}"' in words


def test_interrupt(command, model, tmp_path):
    arguments = generate(model([]), "--when-full", "slide", "--tokens", "100000000")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([command, *arguments], cwd=tmp_path, **pipes) as process:
        assert process.stdout.read(1) == b"a"
        process.stdout.read(20)
        process.send_signal(signal.SIGINT)
        rest, words = process.communicate()
    assert process.returncode == 0 and rest.endswith(b"\n")
    assert words.startswith(b"interrupted after ") and words.endswith(b" of 100,000,000 tokens\n")
