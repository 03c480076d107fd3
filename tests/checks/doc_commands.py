# SPDX-License-Identifier: MIT
"""Commands in README.md and the guides of sdk/docs/ have commands and options that exist: each line
of a sh block, and each piece of code in a text, that begins with one of the tree's programs."""

import re
import shlex
from pathlib import Path

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")
COMMAND = re.compile(
    r'(?:add_subcommand\(\s*|declare(?:_one)?\(\s*\*?\w+, line,\s*)"([a-z-]+)"'
)
ALWAYS = {"--help", "--version"}  # tools::parse adds the second, CLI11 the first
GROUPS = {"state", "dead-letters"}
# Where the options of each program stand.
PROGRAMS = {
    "sessionq": ("sdk/tools/sessionq",),
    "sessionqd": ("sdk/tools/sessionqd",),
    "samples/run": ("samples/run", "samples/replay"),
    "tests/run": ("tests/run",),
}
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
IN_TEXT = re.compile(r"`((?:sessionqd?|(?:samples|tests)/run) [^`\n]*)`")


def texts(root: Path, places: tuple[str, ...]) -> str:
    read = []
    for place in places:
        path = root / place
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix in {"", ".cpp"}:
                read.append(file.read_text(encoding="utf-8"))
    return "\n".join(read)


def commands(page: Path):
    """(line, command) of each."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1)) + 1
        code = re.sub(r"\\\n", "  ", block.group(1))
        for number, command in enumerate(code.split("\n")):
            yield line + number, command
    prose = BLOCK.sub(lambda block: "\n" * block.group(0).count("\n"), text)
    for piece in IN_TEXT.finditer(prose):
        yield prose.count("\n", 0, piece.start()) + 1, piece.group(1)


def calls(command: str):
    """The words of each call of a program in a line of a shell."""
    words: list[str] = []
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for word in [*lexer, ";"]:
        if set(word) <= set("|&;()"):
            while words and re.match(r"\w+=", words[0]):
                words.pop(0)
            if words:
                yield words
            words = []
        else:
            words.append(word)


def check(root) -> list[str]:
    root = Path(root)
    sources = {name: texts(root, places) for name, places in PROGRAMS.items()}
    options = {name: set(OPTION.findall(text)) | ALWAYS for name, text in sources.items()}
    known = set(COMMAND.findall(sources["sessionq"]))
    found = []
    for page in [root / "README.md", *sorted((root / "sdk/docs").glob("*.md"))]:
        for line, command in commands(page):
            place = f"{page.relative_to(root)}:{line}"
            for words in calls(command):
                name = words[0].removeprefix("build/bin/")
                if name not in PROGRAMS:
                    continue
                for word in words[1:]:
                    option = word.split("=", 1)[0].split("[", 1)[0]
                    if option.startswith("--") and option not in options[name]:
                        found.append(f"{place}: {name} has no option {option}")
                if name != "sessionq" or len(words) == 1 or words[1].startswith("-"):
                    continue
                path = words[1:3] if words[1] in GROUPS else words[1:2]
                for word in path:
                    if word not in known and word != "COMMAND":
                        found.append(f"{place}: sessionq has no command {word}")
    return found


FIXTURE = {
    "README.md": (
        "```sh\nsessionq send orders --session ada  # --no\nsessionq sent orders\n"
        "A=1 build/bin/sessionq \\\n    dead-letters drop orders | sessionqd --queues\n"
        "ls --all\n```\n`sessionqd --queue a`\n`sessionq send --sessions`\n"
    ),
    "sdk/docs/a.md": "```sh\ntests/run --bench && samples/run --inputs a\n```\n",
    "sdk/tools/sessionq/a.cpp": (
        'declare(\n    app, line, "send"\nadd_subcommand("dead-letters"\n"--session"'
    ),
    "sdk/tools/sessionqd/a.cpp": '"--queue"',
    "samples/run": "--input",
    "samples/replay/a.cpp": "",
    "tests/run": "--bench",
}
EXPECTED = ["README.md:3", "README.md:4", "README.md:4", "README.md:9", "sdk/docs/a.md:2"]
