#!/usr/bin/env python3
"""The checker of the documentation finds what differs, and only that."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import snippets

PAGE = """\
# Title
```cpp
#include <map>
std::map<int, int> m;
```
```cpp
int main() { std::puts("4"); }
```

```text
4
```
```cpp skip
not C++
```
```console
$ firstlayer encode \\
>   --text hi
5303
$ printf 'a\\nb\\nc\\n'
...
c
```
```console exit=3
$ sh -c 'echo bad; exit 3'
bad
```
"""


class SnippetsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "page.md"
        self.page.write_text(PAGE)

    def test_first_difference(self):
        same = [("", ""), ("a\n", "a\n"), ("a  \n", "a\n"), ("...\n", ""), ("...\n", "x\ny\n"), ("a\n...\n", "a\nb\n"),
                ("...\nc\n", "c\na\nc\n"), ("in ... ms\n", "in 3.5 ms\n"), ("...\nb\n...\nd\n", "a\nb\nb\nc\nd\n")]
        for expected, received in same:
            self.assertIsNone(snippets.first_difference(expected, received), (expected, received))
        different = [("a\n", ""), ("", "a\n"), ("a\n", "b\n"), ("...\nc\n", "a\nb\n"), ("a\n...\n", "b\n"),
                     ("in ... ms\n", "in 3 s\n"), ("a.c\n", "abc\n"), ("...\nb\n", "b\nc\n")]
        for expected, received in different:
            self.assertIsNotNone(snippets.first_difference(expected, received), (expected, received))
        self.assertIn("expected: b\n  received: c", snippets.first_difference("a\nb\n", "a\nc\n"))

    def test_extract(self):
        out = self.folder / "out"
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            snippets.extract(out, [self.page])
        self.assertEqual(printed.getvalue().split(), ["page_2", "page_6"])
        fragment = (out / "page_2.cpp").read_text()
        self.assertLess(fragment.index("#include <map>"), fragment.index("void snippet() {"))
        self.assertEqual((out / "page_6.cpp").read_text(), 'int main() { std::puts("4"); }\n')
        self.assertEqual((out / "page_6.out").read_text(), "4\n")

    def test_unclosed_block(self):
        self.page.write_text("```cpp\nint x;\n")
        with self.assertRaisesRegex(SystemExit, "page.md:1"):
            snippets.blocks(self.page)

    def test_program(self):
        program = self.folder / "program"
        program.write_text("#!/bin/sh\necho 4\n")
        program.chmod(0o755)
        expected = self.folder / "expected"
        expected.write_text("4\n")
        snippets.run_program(program, expected)
        expected.write_text("5\n")
        with self.assertRaisesRegex(SystemExit, "expected: 5"):
            snippets.run_program(program, expected)

    def console(self, text):
        """What run_console prints for a page, with a stand-in for the command."""
        root = self.folder / "root"
        (root / "tests/data/text").mkdir(parents=True, exist_ok=True)
        (root / "tests/data/text/the-verdict.txt").write_text("")
        (root / "examples").mkdir(exist_ok=True)
        (root / "run").write_text("")
        command = root / "firstlayer"
        command.write_text('#!/bin/sh\n[ "$*" = "encode --text hi" ] && echo 5303\n')
        command.chmod(0o755)
        self.page.write_text(text)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                snippets.run_console(self.page, command, root)
            except SystemExit:
                printed.write("FAILED")
        return printed.getvalue()

    def test_console(self):
        self.assertEqual(self.console(PAGE), "page.md: 3 commands run, 0 differ\n")
        for right, wrong in (("5303", "5304"), ("exit=3", "exit=4"), ("exit=3", ""), ("\nbad\n", "\n")):
            self.assertIn("1 differ\nFAILED", self.console(PAGE.replace(right, wrong)), (right, wrong))


if __name__ == "__main__":
    unittest.main()
