#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_help_test.py SESSIONQ: completions in real shells, and the manual page. A shell that
this machine lacks is skipped by name."""

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sessionq = sys.argv[1]

# What is typed, and what the shell makes of it.
COMPLETED = [
    ("sessionq rec", "sessionq receive"),
    ("sessionq state g", "sessionq state get"),
    ("sessionq --connection x pee", "sessionq --connection x peek"),
    ("sessionq --connection=x pee", "sessionq --connection=x peek"),
    ("sessionq peek orders --fol", "sessionq peek orders --follow"),
    ("sessionq peek orders --conn", "sessionq peek orders --connection"),
    ("sessionq peek --session send --fol", "sessionq peek --session send --follow"),
    ("sessionq completion z", "sessionq completion zsh"),
    ("sessionq send orders --input wh", "sessionq send orders --input whole"),
    ("sessionq state set orders --fi", "sessionq state set orders --file"),
    ("sessionq send orders --file './a f", "sessionq send orders --file './a file"),
]


def run(*command, **more):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=True, **more
    ).stdout


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class InteractiveShell:
    """A shell on a terminal. Control-X shows the line that is being typed, and deletes it."""

    def __init__(self, directory, *command, setup):
        master, terminal = pty.openpty()
        environment = dict(os.environ, TERM="dumb", HOME=directory, PS1="", INPUTRC="/dev/null")
        environment["PATH"] = f"{directory}:{environment['PATH']}"
        self.shell = subprocess.Popen(
            command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
        os.close(terminal)
        self.master = master
        self.type(setup + "\necho rea''dy\n")
        self.read_until("ready\r\n")

    def type(self, text):
        os.write(self.master, text.encode())

    def read_until(self, wanted):
        got = ""
        end = time.monotonic() + 60
        while wanted not in got:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.master], [], [], left)[0]:
                raise AssertionError(f"{wanted!r} did not come: {got!r}")
            got += os.read(self.master, 65536).decode(errors="replace")
        return got

    def completed(self, typed):
        self.type(typed + "\t\x18")
        shown = self.read_until(">>")
        return shown[shown.rindex("<<") + 2 : shown.rindex(">>")]

    def close(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.master)


class Completions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.directory = cls.kept.name
        Path(cls.directory, "sessionq").symlink_to(Path(sessionq).resolve())
        Path(cls.directory, "a file").touch()
        for shell, name in (("bash", "complete.bash"), ("zsh", "_sessionq"), ("fish", "a.fish")):
            Path(cls.directory, name).write_text(run(sessionq, "completion", shell))

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def check_all(self, shell):
        try:
            for typed, expected in COMPLETED:
                with self.subTest(typed):
                    self.assertEqual(shell.completed(typed).rstrip(" '="), expected)
        finally:
            shell.close()

    @needs("bash")
    def test_bash(self):
        setup = (
            "stty cols 500; bind 'set enable-bracketed-paste off'; source ./complete.bash\n"
            'show() { printf "<<%s>>" "$READLINE_LINE"; READLINE_LINE=; READLINE_POINT=0; }\n'
            "bind -x '\"\\C-x\": show'"
        )
        self.check_all(InteractiveShell(self.directory, "bash", "--norc", "-i", setup=setup))

    @needs("bash")
    def test_bash_lists_what_is_possible(self):
        def offered(*words):
            script = (
                'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sessionq;'
                ' printf "%s\\n" "${COMPREPLY[@]}"'
            )
            file = str(Path(self.directory, "complete.bash"))
            return run("bash", "--norc", "-c", script, "bash", file, "sessionq", *words).split()

        self.assertIn("dead", " ".join(offered("receive", "x", "--settle", "d")))
        self.assertEqual(offered("state", ""), ["get", "set", "clear"])
        self.assertEqual(offered("send", "x", "--input", "=", ""), ["lines", "json", "whole"])
        self.assertIn("--session", offered("peek", "--"))
        self.assertIn("--connection", offered("peek", "--"))
        self.assertNotIn("--settle", offered("peek", "--"))
        self.assertEqual(offered("peek", ""), [])
        self.assertEqual(offered("send", "x", "--", "rec"), [])

    @needs("zsh")
    def test_zsh(self):
        setup = (
            "PS1=; unsetopt zle_bracketed_paste; stty cols 500; fpath=($PWD $fpath)\n"
            "autoload -U compinit; compinit -u -D\n"
            'show() { print -n -r -- "<<$BUFFER>>"; BUFFER=; }\n'
            "zle -N show; bindkey -e; bindkey '^X' show"
        )
        self.check_all(InteractiveShell(self.directory, "zsh", "-f", "-i", setup=setup))

    @needs("fish")
    def test_fish(self):
        for typed, expected in COMPLETED:
            with self.subTest(typed):
                script = "source ./a.fish; complete -C $argv[1]"
                environment = dict(os.environ, HOME=self.directory)
                offered = run(
                    "fish", "--no-config", "-c", script, typed, cwd=self.directory, env=environment
                )
                words = [line.split("\t")[0] for line in offered.splitlines()]
                if "a file" in expected:
                    self.assertEqual(words, ["./a file"])
                else:
                    self.assertEqual(words, [expected.split()[-1]])


class ManualPage(unittest.TestCase):
    def test_every_command_and_option_is_in_it(self):
        page = run(sessionq, "man").replace("\\-", "-")
        usage = run(sessionq, "--help")
        commands = [
            line.split()[0]
            for line in usage.split("Subcommands:\n")[1].split("\n\n")[0].splitlines()
            if line.startswith("  ") and line[2] != " "
        ]
        self.assertGreater(len(commands), 10)
        titles = [line[4:] for line in page.splitlines() if line.startswith(".SH ")]
        self.assertEqual(
            titles,
            ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS"]
            + ["OUTPUT", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "RECORDS", "DOCTOR"]
            + ["LIVE SCREENS"],
        )
        for command in commands:
            self.assertIn(f"sessionq {command}", page)
            described = run(sessionq, command, "--help")
            self.assertIn(f"Usage: sessionq {command} ", described)
            self.assertLessEqual(max(len(line) for line in described.splitlines()), 100)
            for word in described.split():
                if word.startswith("--") and word.strip("-").isalpha():
                    self.assertIn(word, page)

    @needs("groff")
    def test_groff_has_no_warning(self):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-P-cbou"],
            input=run(sessionq, "man"),
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.count("EXIT STATUS"), 1)

    @needs("man")
    def test_man_shows_it(self):
        environment = dict(os.environ, MANPAGER="cat", MANWIDTH="100", LC_ALL="C.UTF-8")
        with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
            file.write(run(sessionq, "man"))
            file.flush()
            shown = run("man", "--warnings", "-l", file.name, env=environment)
        for title in ("NAME", "SYNOPSIS", "OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT"):
            self.assertIn("\n" + title, "\n" + shown)
        self.assertIn('"name": string, number', shown)


class ClosedPipe(unittest.TestCase):
    def test_help_into_a_closed_pipe_ends_as_other_programs_do(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([sessionq, "--help"], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-13, b""))


unittest.main(argv=sys.argv[:1])
