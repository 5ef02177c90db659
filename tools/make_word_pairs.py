#!/usr/bin/env python3
"""Writes data/questions-words.pairs, the analogies of questions-words.txt in their shortest form.

usage: tools/make_word_pairs.py questions-words.txt data/questions-words.pairs

A line ": NAME" begins a section, every other line is a pair of words. The questions are not written down, for a rule
gives them: each pair asks about the 39 pairs that follow it, or all if there are fewer, the first again after the last,
but not about one that has a word in its own place in common. Fails unless the rule gives the questions in their order.
"""

import sys

REACH = 39


def read_sections(path: str) -> list:
    """(name, questions), each question two pairs."""
    sections = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(": "):
                sections.append((line[2:].strip(), []))
            else:
                a, b, c, d = line.split()
                sections[-1][1].append(((a, b), (c, d)))
    return sections


def questions_of(pairs: list) -> list:
    questions = []
    for at, pair in enumerate(pairs):
        for ahead in range(1, min(REACH, len(pairs) - 1) + 1):
            other = pairs[(at + ahead) % len(pairs)]
            if pair[0] != other[0] and pair[1] != other[1]:
                questions.append((pair, other))
    return questions


def main(source: str, target: str) -> None:
    lines = []
    for name, questions in read_sections(source):
        pairs = list(dict.fromkeys(first for first, _ in questions))
        assert questions_of(pairs) == questions, f"the rule does not give the questions of {name}"
        lines += [f": {name}"] + [f"{a} {b}" for a, b in pairs]
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
