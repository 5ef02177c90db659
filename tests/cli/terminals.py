"""Terminals for tests of what the command does on one."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

import pytest


def open_terminal():
    """Both ends of a new terminal. Skips the test where the system gives none, as in a chroot without /dev/pts."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal here: {error}")


def read_to_end(ours):
    """What was printed on a terminal's other end, which is closed by then or will be; closes this one."""
    printed = b""
    try:
        while part := os.read(ours, 65536):
            printed += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return printed


def run_on_terminal(arguments, columns, env):
    """The exit code, and what was printed on a terminal so wide, which is read meanwhile: it holds little."""
    ours, theirs = open_terminal()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=theirs, env=env) as process:
        os.close(theirs)
        printed = read_to_end(ours)
    return process.returncode, printed.decode()
