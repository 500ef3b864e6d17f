# SPDX-License-Identifier: GPL-3.0-or-later
"""A program at a terminal, and the person who sits there."""
import os
import pty
import re
import signal
import threading
import time

DEADLINE_S = 60  # for anything the person waits for
# As a shell at that terminal does it: says how the program ended, and what the terminal is like afterwards.
SHELL = 'trap : INT; "$@"; echo "it ended with $?"; stty -a'


class AtTerminal:
    """Started at once; to be closed. What it writes is read all the time."""

    def __init__(self, command, env):
        self.said = ""
        self._seen = 0  # of what was said, up to the last thing that was waited for
        self._changed = threading.Condition()
        self._over = False
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                os.execvpe("sh", ["sh", "-c", SHELL, "sh", *map(str, command)], env)
            finally:
                os._exit(127)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while True:
            try:
                text = os.read(self._terminal, 65536).decode(errors="replace")
            except OSError:  # nobody has it open any more
                text = ""
            with self._changed:
                self.said += text
                self._over = not text
                self._changed.notify_all()
            if not text:
                return

    def wait_for(self, text):
        """Until it says this, after what was waited for before."""
        deadline = time.monotonic() + DEADLINE_S
        with self._changed:
            while (found := self.said.find(text, self._seen)) < 0:
                if self._over or not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise AssertionError(f"it did not say {text!r}, but:\n{self.said}")
            self._seen = found + len(text)

    def says_more_within(self, seconds):
        with self._changed:
            before = len(self.said)
            return self._changed.wait_for(lambda: len(self.said) > before, seconds)

    def type(self, text):
        os.write(self._terminal, text.encode())

    def interrupt(self):
        self.type("\x03")

    def wait(self):
        """Until the end: the exit code, and whether the terminal shows what is typed."""
        self._reader.join(DEADLINE_S)
        if self._reader.is_alive():
            raise AssertionError(f"it does not end:\n{self.said}")
        code = re.search(r"it ended with (\d+)", self.said)
        if code is None:
            raise AssertionError(self.said)
        return int(code[1]), re.search(r"(?<!\S)echo(?!\S)", self.said[code.end():].replace(";", " ")) is not None

    def close(self):
        if self._reader.is_alive():
            os.killpg(self.pid, signal.SIGKILL)
            self._reader.join(DEADLINE_S)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)
