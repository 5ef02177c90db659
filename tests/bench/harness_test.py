"""What bench/run must do right for its figures to mean anything; without a build or a contender."""

import array
import math
import sys
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import bounds  # noqa: E402
from harness import process, table, texts  # noqa: E402
from harness.case import Case, Measure  # noqa: E402
from harness.contender import Command, Contender, Measurement  # noqa: E402


@dataclass
class Scripted(Contender):
    """Gives the output and the seconds that a test has written down."""

    bytes_digest: str = "same"
    seconds: list[list[float]] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    floats: bytes = b""

    def digest(self):
        return self.bytes_digest

    def output(self):
        return self.floats

    def sample(self):
        self.started.append(self.name)
        return {"warm": self.seconds.pop(0)}


def make_case(*contenders, rounds=1):
    measures = [Measure("warm", "warm", "MB/s")]
    return Case("english", "a text", measures, contenders, cores=[0], rounds=rounds, work=100_000_000)


class CaseTest(unittest.TestCase):
    def test_takes_an_output_within_the_tolerance_and_no_other(self):
        def numbers(*values):
            return array.array("f", values).tobytes()

        ours = Scripted("firstlayer", [], seconds=[[1.0]], floats=numbers(1.0, 2.0))
        near = Scripted("near", [], seconds=[[1.0]], tolerance=1e-3, floats=numbers(1.0, 2.0005))
        make_case(ours, near).run()
        for floats in (numbers(1.0, 2.002), numbers(1.0, math.nan), numbers(1.0), b""):
            far = Scripted("far", [], tolerance=1e-3, floats=floats)
            with self.assertRaisesRegex(RuntimeError, "expected the output of far within 0.001 of that of firstlayer"):
                make_case(ours, far).run()
            self.assertEqual(far.started, [])

    def test_times_nothing_when_outputs_differ(self):
        started = []
        ours = Scripted("firstlayer", [], seconds=[[1.0]], started=started)
        theirs = Scripted("tiktoken", [], bytes_digest="other", seconds=[[1.0]], started=started)
        with self.assertRaisesRegex(RuntimeError, "expected the output of tiktoken to equal that of firstlayer"):
            make_case(ours, theirs).run()
        self.assertEqual(started, [])

    def test_does_not_compare_what_has_no_output(self):
        case = make_case(
            Scripted("firstlayer", [], seconds=[[1.0]]),
            Scripted("copy", [], bytes_digest="none", seconds=[[1.0]], checked=False),
        )
        case.run()
        self.assertEqual(list(case.results), ["firstlayer", "copy"])

    def test_runs_contenders_in_turn(self):
        started = []
        case = make_case(
            Scripted("firstlayer", [], seconds=[[1.0], [1.0]], started=started),
            Scripted("tiktoken", [], seconds=[[1.0], [1.0]], started=started),
            rounds=2,
        )
        case.run()
        self.assertEqual(started, ["firstlayer", "tiktoken", "firstlayer", "tiktoken"])


class MeasurementTest(unittest.TestCase):
    def test_takes_the_median_of_rounds_and_the_least_of_all(self):
        measured = Measurement.of([[3.0, 1.0, 2.0], [9.0, 8.0, 7.0], [4.0]])
        self.assertEqual(measured.rounds, [2.0, 8.0, 4.0])
        self.assertEqual(measured.median, 4.0)
        self.assertEqual(measured.least, 1.0)

    def test_compares_within_rounds(self):
        """A round that is slow for both changes no quotient; the medians alone would say 10 / 1."""
        ours = Measurement.of([[1.0], [1.0], [10.0]])
        theirs = Measurement.of([[2.0], [10.0], [20.0]])
        self.assertEqual(theirs.times(ours), 2.0)


class BoundTest(unittest.TestCase):
    def setUp(self):
        self.cases = {}
        for name, seconds in (("english", [1.0]), ("two threads", [0.5])):
            ours, theirs = Scripted("firstlayer", [], seconds=[seconds]), Scripted("tiktoken", [], seconds=[[4.0]])
            self.cases[name] = make_case(ours, theirs)
            self.cases[name].run()

    def rate(self, limit, **options):
        return bounds.Bound("encode", "english", "warm", limit, more_is_better=True, **options).check(self.cases)

    def time(self, limit, case="english", **options):
        return bounds.Bound("encode", case, "warm", limit, **options).check(self.cases)

    def test_a_rate_is_in_the_unit_of_its_measure(self):
        self.assertTrue(self.rate(100).kept)
        self.assertFalse(self.rate(101).kept)
        self.assertEqual(self.rate(101).text, "encode english, warm: 100, bound at least 101 MB/s")

    def test_a_quotient_is_against_a_contender(self):
        self.assertTrue(self.rate(4, against="tiktoken").kept)
        self.assertFalse(self.rate(4.1, against="tiktoken").kept)

    def test_time_against_a_contender_has_a_most(self):
        self.assertTrue(self.time(0.25, against="tiktoken").kept)
        self.assertFalse(self.time(0.24, against="tiktoken").kept)

    def test_a_case_is_compared_with_another_of_firstlayers_own(self):
        self.assertTrue(self.time(0.5, case="two threads", against_case="english").kept)
        self.assertFalse(self.time(0.49, case="two threads", against_case="english").kept)
        self.assertEqual(
            self.time(0.49, case="two threads", against_case="english").text,
            "encode two threads, warm: 0.5, bound at most 0.49 times that of english",
        )


class TableTest(unittest.TestCase):
    def test_shows_rates_and_quotients(self):
        case = make_case(
            Scripted("firstlayer", [], seconds=[[1.0, 0.5]], version="0.1.0"),
            Scripted("tiktoken", [], seconds=[[3.0]], version="0.14.0"),
        )
        case.run()
        shown = table.render_case(case.to_json())
        self.assertIn("| firstlayer | 0.1.0   | 133 (200) ", shown)
        self.assertIn("| tiktoken   | 0.14.0  | 33.3 (33.3) · 4x |", shown)


class ProcessTest(unittest.TestCase):
    def test_measures_a_program_and_hashes_its_output(self):
        contender = Command("python", [sys.executable, "-c", "print(5303)"])
        self.assertEqual(contender.digest(), "57d1b684626f19959176d3ffa399b4eb8ba65f5b248136b07167b898afb0da5c")
        self.assertGreater(contender.sample()["wall"][0], 0)

    def test_a_program_that_fails_is_an_error_with_its_words(self):
        with self.assertRaisesRegex(RuntimeError, "received 3:\nno such thing"):
            process.run([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])


class TextsTest(unittest.TestCase):
    def test_a_head_ends_between_two_characters(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "text.txt"
            path.write_bytes("abcdé".encode())
            self.assertEqual(b"".join(texts.first_bytes(path, 5)), b"abcd")
            self.assertEqual(b"".join(texts.first_bytes(path, 4)), b"abcd")


if __name__ == "__main__":
    unittest.main()
