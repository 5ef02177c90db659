#!/usr/bin/env python3
"""What tools/setup.sh does on machines of several kinds, played by stand-ins for dpkg-query, apt-get, sudo, id and the
build tools."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ["bash", "cat", "dirname", "env", "flock", "grep", "mkdir", "mktemp", "rm", "touch"]  # of any Debian


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = Path(folder.name, "a checkout")
        self.bin = Path(folder.name, "bin")
        self.calls = Path(folder.name, "calls")
        self.calls.touch()
        (self.checkout / "tools").mkdir(parents=True)
        self.bin.mkdir()
        for name in ("CMakePresets.json", "run", "tools/setup.sh"):
            shutil.copy(ROOT / name, self.checkout / name)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.tool("id", "echo 0")
        self.installed("cmake", "g++", "libcli11-dev", "libfmt-dev", "libhwy-dev", "ninja-build", "nlohmann-json3-dev")

    def tool(self, name, code, note=False):
        """A stand-in; with `note` it writes down how it was called."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        written_down = f'echo "{name} $*" >> "{self.calls}"\n' if note else ""
        path.write_text(f"#!/usr/bin/env bash\n{written_down}{code}\n")
        path.chmod(0o755)

    def installed(self, *packages):
        lines = "".join(f"printf 'installed={package} '\n" for package in packages)
        self.tool("dpkg-query", lines + "printf 'not-installed=removed '; exit 1")

    def bash(self, code):
        script = f". '{self.checkout}/tools/setup.sh'\n{code}"
        return subprocess.run(["bash", "-euo", "pipefail", "-c", script, "./run"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={"PATH": str(self.bin), "TMPDIR": str(self.bin.parent)})

    def called(self):
        return self.calls.read_text().splitlines()

    def test_silent_when_nothing_is_missing(self):
        self.tool("apt-get", "", note=True)
        done = self.bash("need cmake g++")
        self.assertEqual((done.returncode, done.stdout, done.stderr, self.called()), (0, "", "", []))

    def test_silent_without_debian(self):
        (self.bin / "dpkg-query").unlink()
        done = self.bash("need cmake")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_root_installs_only_what_is_missing(self):
        self.tool("apt-get", "echo talk", note=True)
        done = self.bash("need cmake ccache removed")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "run: installing ccache removed\n"))
        self.assertEqual([call.split()[-1] for call in self.called()], ["update", "removed"])
        self.assertTrue(self.called()[1].endswith("install --no-install-recommends ccache removed"))

    def test_user_with_sudo(self):
        self.tool("id", "echo 1000")
        self.tool("sudo", '"$@"', note=True)
        self.tool("apt-get", "")
        self.assertEqual(self.bash("need ccache").returncode, 0)
        self.assertEqual(len(self.called()), 2)

    def test_user_without_sudo(self):
        self.tool("id", "echo 1000")
        self.tool("apt-get", "", note=True)
        done = self.bash("need cmake ccache; echo went on")
        self.assertEqual((done.returncode, done.stdout, self.called()), (1, "", []))
        self.assertIn("only root may install them: ccache\n  As root, run: apt-get install ccache", done.stderr)

    def test_no_network(self):
        self.tool("apt-get", "echo could not resolve; exit 100")
        done = self.bash("need ccache; echo went on")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("could not resolve", done.stderr)
        self.assertIn("run: apt-get could not install ccache", done.stderr)

    def test_one_bad_source_does_not_stop_it(self):
        self.tool("apt-get", '[[ " $* " != *" update "* ]]', note=True)
        self.assertEqual(self.bash("need ccache").returncode, 0)
        self.assertEqual(len(self.called()), 2)

    def configuring_cmake(self):
        """cmake and ninja that make what the real ones make, as far as setup.sh looks."""
        cache = f"CMAKE_HOME_DIRECTORY:INTERNAL={self.checkout}"
        folder = f"{self.checkout}/build/release"
        self.tool("cmake", f"echo '{cache}' > '{folder}/CMakeCache.txt'; touch '{folder}/build.ninja'", note=True)
        self.tool("ninja", f"""
            if [[ " $* " == *" -n "* ]]; then [ ! -e '{folder}/made' ] || echo 'ninja: no work to do.'; exit; fi
            echo "ninja $*" >> '{self.calls}'; touch '{folder}/made'""")

    def test_build_once(self):
        self.configuring_cmake()
        os.utime(self.checkout / "CMakePresets.json", (0, 0))
        done = self.bash("build release firstlayer_command")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "run: building build/release\n"))
        self.assertEqual([call.split()[0] for call in self.called()], ["cmake", "ninja"])
        done = self.bash("build release firstlayer_command")
        self.assertEqual((done.returncode, done.stderr, len(self.called())), (0, "", 2))

    def test_moved_checkout_is_configured_again(self):
        self.configuring_cmake()
        os.utime(self.checkout / "CMakePresets.json", (0, 0))
        self.bash("build release firstlayer_command")
        (self.checkout / "build/release/CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n")
        self.bash("build release firstlayer_command")
        self.assertEqual([call.split()[0] for call in self.called()], ["cmake", "ninja", "cmake"])

    def test_failing_build_shows_its_words(self):
        self.configuring_cmake()
        self.tool("ninja", "echo undefined reference; exit 1")
        done = self.bash("build release firstlayer_command; echo went on")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("undefined reference\nrun: the build of the preset release failed\n", done.stderr)

    def test_run_passes_its_arguments_and_input(self):
        self.configuring_cmake()
        command = self.checkout / "build/release/cli/firstlayer"
        command.parent.mkdir(parents=True)
        command.write_text('#!/usr/bin/env bash\nprintf "[%s]" "$@"; cat\n')
        command.chmod(0o755)

        def run(*arguments):
            return subprocess.run([self.checkout / "run", *arguments], capture_output=True, text=True, input="typed",
                                  env={"PATH": str(self.bin), "TMPDIR": str(self.bin.parent)}).stdout

        self.assertEqual(run("encode", "--text", "a b"), "[encode][--text][a b]typed")
        self.assertEqual(run(), f"[embed][--file][{self.checkout}/examples/text.txt]typed")


if __name__ == "__main__":
    unittest.main()
