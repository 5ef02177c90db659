#!/usr/bin/env python3
"""Writes tests/data/formats/gensim_*.vec, as gensim writes word vectors, and tests/data/view/glove_slice.txt and .json:
a slice of GloVe's vectors with the neighbours and analogies that NumPy finds in it in float64.

    pip install gensim==4.4.0 numpy==2.4.6
    gzip -dc ../shared/data/vectors/glove6b-100d-top30k.txt.gz > glove.txt
    tools/make_word_vectors_golden.py glove.txt
"""

import json
import pathlib
import sys

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"

SLICE = """king queen man woman prince princess boy girl father mother son daughter brother sister he she
paris france rome italy berlin germany madrid spain london england good better best bad worse worst big bigger small
smaller dog cat horse cow bread milk cheese soup one two three monday tuesday january february the of and""".split()
ASKED = ["king", "paris", "cheese", "two", "the"]
ANALOGIES = [("king", "man", "woman"), ("paris", "france", "italy"), ("better", "good", "bad")]


def write_gensim():
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(3)
    rows = [[0.5, -1.25, 3.0], [0.1, -0.2, 1e-7], [1e20, -1.0, 0.0], [7.0, 8.0, 9.0]]
    vectors.add_vectors(["the", "of", "été", "中"], np.array(rows, np.float32))
    folder = DATA / "formats"
    vectors.save_word2vec_format(folder / "gensim_text.vec", binary=False)
    vectors.save_word2vec_format(folder / "gensim_binary.vec", binary=True)
    vectors.save_word2vec_format(folder / "gensim_no_header.vec", binary=False, write_header=False)


def units(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def scores(metric, table, query):
    """For all rows, the largest first when sorted; a distance is negative."""
    if metric == "cosine":
        return units(table) @ (query / np.linalg.norm(query))
    return table @ query if metric == "dot" else -np.linalg.norm(table - query, axis=1)


def neighbors(words, table):
    for metric in ("cosine", "dot", "l2"):
        for word in ASKED:
            keys = scores(metric, table, table[words.index(word)])
            order = np.argsort(-keys, kind="stable")
            yield {"metric": metric, "word": word, "ids": order.tolist(), "scores": np.abs(keys[order]).tolist()
                   if metric == "l2" else keys[order].tolist()}


def analogies(words, table):
    unit = units(table)
    for rule in ("add", "multiply"):
        for abc in ANALOGIES:
            ids = [words.index(word) for word in abc]
            a, b, c = (unit[i] for i in ids)
            if rule == "add":
                keys = scores("cosine", table, a - b + c)
            else:
                shares = [(1 + unit @ y) / 2 for y in (a, b, c)]
                keys = shares[0] * shares[2] / (shares[1] + 0.001)
            keys[ids] = -np.inf
            order = np.argsort(-keys, kind="stable")[:3]
            yield {"rule": rule, "words": abc, "found": [words[i] for i in order], "scores": keys[order].tolist()}


def main():
    write_gensim()
    lines = {line.split(" ", 1)[0]: line for line in pathlib.Path(sys.argv[1]).read_text().splitlines()}
    (DATA / "view").mkdir(exist_ok=True)
    (DATA / "view" / "glove_slice.txt").write_text("".join(lines[word] + "\n" for word in SLICE))
    table = np.array([lines[word].split()[1:] for word in SLICE], np.float32).astype(np.float64)
    golden = {"neighbors": list(neighbors(SLICE, table)), "analogies": list(analogies(SLICE, table))}
    (DATA / "view" / "glove_slice.json").write_text(json.dumps(golden) + "\n")


main()
