# SPDX-License-Identifier: MIT
"""A program on a terminal of its own, and what the terminal shows: as much of xterm as ncurses
needs."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata

CONTROL = re.compile(r"\x1b(?:\[([?>]?)([0-9;]*)([@-~])|[()](.)|([=>78MDEc]))")


class Display:
    """The characters on the screen. An unknown sequence is an error, so that none goes unseen."""

    def __init__(self, columns, rows):
        self.resize(columns, rows)
        self.modes = {25}  # the cursor is visible
        self.pending = ""

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines)

    def feed(self, text):
        text = self.pending + text
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = CONTROL.match(text, at)
                if not match:
                    if len(text) - at > 30:
                        raise AssertionError(f"unknown sequence {text[at:at + 30]!r}")
                    break  # the rest comes later
                self.control(match)
                at = match.end()
            else:
                self.put(text[at])
                at += 1
        self.pending = text[at:]

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.down()
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        elif character >= " ":
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            if self.column + width > self.columns:
                self.column = 0
                self.down()
            line = self.lines[self.row]
            line[self.column : self.column + width] = [character] + [""] * (width - 1)
            self.last = character
            self.column += width
        elif character not in "\x07\x0e\x0f":
            raise AssertionError(f"control character {character!r}")

    def down(self):
        if self.row == self.bottom:
            self.scroll(1)
        else:
            self.row += 1

    def scroll(self, count):
        for _ in range(abs(count)):
            blank = [" "] * self.columns
            if count > 0:
                del self.lines[self.top]
                self.lines.insert(self.bottom, blank)
            else:
                del self.lines[self.bottom]
                self.lines.insert(self.top, blank)

    def control(self, match):
        private, numbers, final, _, single = match.groups()
        given = [int(number or 0) for number in (numbers or "").split(";")]
        count = max(given[0], 1)
        line = self.lines[self.row]
        if single == "M":
            if self.row == self.top:
                self.scroll(-1)
            else:
                self.row -= 1
        elif final is None:
            pass  # character sets, keypad, cursor kept
        elif final in "hl" and private == "?":
            for mode in given:
                if mode == 1049:  # the other of two screens
                    self.resize(self.columns, self.rows)
                (self.modes.add if final == "h" else self.modes.discard)(mode)
        elif final in "Hf":
            self.row = min(count, self.rows) - 1
            self.column = min(max(given[1] if len(given) > 1 else 1, 1), self.columns) - 1
        elif final == "A":
            self.row = max(self.row - count, 0)
        elif final == "B":
            self.row = min(self.row + count, self.rows - 1)
        elif final == "C":
            self.column = min(self.column + count, self.columns - 1)
        elif final == "D":
            self.column = max(self.column - count, 0)
        elif final == "G":
            self.column = min(count, self.columns) - 1
        elif final == "d":
            self.row = min(count, self.rows) - 1
        elif final == "J":
            first = 0 if given[0] == 2 else self.row + 1
            for row in range(first, self.rows):
                self.lines[row] = [" "] * self.columns
            if given[0] == 0:
                line[self.column :] = [" "] * (self.columns - self.column)
        elif final == "K":
            if given[0] == 0:
                line[self.column :] = [" "] * (self.columns - self.column)
            else:
                line[: self.column + 1] = [" "] * (self.column + 1)
        elif final == "X":
            count = min(count, self.columns - self.column)
            line[self.column : self.column + count] = [" "] * count
        elif final == "P":
            del line[self.column : self.column + count]
            line += [" "] * (self.columns - len(line))
        elif final == "@":
            line[self.column : self.column] = [" "] * count
            del line[self.columns :]
        elif final == "b":
            for _ in range(count):
                self.put(self.last)
        elif final in "LM":
            for _ in range(count):
                if final == "L":
                    del self.lines[self.bottom]
                    self.lines.insert(self.row, [" "] * self.columns)
                else:
                    del self.lines[self.row]
                    self.lines.insert(self.bottom, [" "] * self.columns)
        elif final in "ST":
            self.scroll(count if final == "S" else -count)
        elif final == "r":
            self.top = count - 1
            self.bottom = (given[1] if len(given) > 1 and given[1] else self.rows) - 1
            self.row = self.column = 0
        elif final not in "mltn":
            raise AssertionError(f"unknown sequence {match.group(0)!r}")


class Terminal:
    """A program on a pseudo-terminal. It waits for what the screen shows, never for a time."""

    def __init__(self, command, columns=80, rows=24, **environment):
        self.master, self.terminal = pty.openpty()
        self.settings = termios.tcgetattr(self.terminal)
        self.display = Display(columns, rows)
        self.decode = codecs.getincrementaldecoder("utf-8")().decode
        self.set_size(columns, rows)
        self.process = subprocess.Popen(
            command,
            stdin=self.terminal,
            stdout=self.terminal,
            stderr=self.terminal,
            env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def set_size(self, columns, rows):
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)  # sends SIGWINCH

    def resize(self, columns, rows):
        self.display.resize(columns, rows)
        self.set_size(columns, rows)

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_until(self, holds, what):
        end = time.monotonic() + 60
        while not holds(self.display.text()):
            left = end - time.monotonic()
            if left < 0 or not select.select([self.master], [], [], left)[0]:
                raise AssertionError(f"{what} did not come:\n{self.display.text()}")
            self.display.feed(self.decode(os.read(self.master, 65536)))
        return self.display.text()

    def shows(self, *texts):
        return self.wait_until(lambda screen: all(text in screen for text in texts), texts)

    def shows_no(self, *texts):
        return self.wait_until(lambda screen: not any(text in screen for text in texts), texts)

    def ends(self):
        """The exit code. The terminal must be as it was."""
        end = time.monotonic() + 60
        while self.process.poll() is None or select.select([self.master], [], [], 0)[0]:
            if time.monotonic() > end:
                raise AssertionError("it does not end")
            if select.select([self.master], [], [], 0.1)[0]:
                self.display.feed(self.decode(os.read(self.master, 65536)))
        return self.process.returncode

    def is_restored(self):
        """Settings as before, no other screen, a visible cursor."""
        return (
            termios.tcgetattr(self.terminal) == self.settings
            and 1049 not in self.display.modes
            and 25 in self.display.modes
        )

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.terminal)
