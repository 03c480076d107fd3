# SPDX-License-Identifier: MIT
"""CI begins with the README's commands, in the README's order, before it sets anything up.

So the first step of a newcomer is the first step of CI. .ci/rings names each part and known suites.
"""

import re

README = "README.md"
CI = ".ci/run"
RINGS = ".ci/rings"
TESTS = "tests/run"
SETUP = re.compile(r"install_everything|need_packages|\bcmake\b")


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def begins_alike(root) -> list[str]:
    readme = (root / README).read_text(encoding="utf-8")
    block = re.search(r"## Two commands\n.*?```sh\n(.*?)```", readme, re.DOTALL)
    promised = re.findall(r"^(\S+/run)", block.group(1), re.MULTILINE) if block else []
    ci = (root / CI).read_text(encoding="utf-8")
    bodies = dict(re.findall(r"^(\w+)\(\) \{\n(.*?)^\}", ci, re.MULTILINE | re.DOTALL))
    found, run = [], []
    for stage in re.finditer(r"^(stage \S+ (?:[^\n]*\\\n)*[^\n]*)\n", ci, re.MULTILINE):
        words = re.sub(r'"[^"]*"', "", stage.group(1), count=1)  # without its description
        for name in re.findall(r"\w+", words):
            words += bodies.get(name, "")
        if SETUP.search(words) and len(run) < len(promised):
            found.append(f"{CI}:{line_of(ci, stage.start())}: sets up before the README's commands")
        for command in re.findall(r"(?:samples|tests)/run\b", words):
            if command not in run:
                run.append(command)
    if not promised or run[: len(promised)] != promised:
        where = line_of(readme, block.start()) if block else 1
        found.append(f"{README}:{where}: the commands are {promised}, {CI} begins with {run}")
    return found


def rings(root) -> list[str]:
    lists = re.compile(r"^(?:clients|brokers)=\(([^()]*)\)$", re.MULTILINE)
    listed = lists.findall((root / TESTS).read_text(encoding="utf-8"))
    known = {"thread-sanitizer", "faults", *" ".join(listed).split()}
    found, parts = [], set()
    for number, line in enumerate((root / RINGS).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#") or not line:
            continue
        part, *suites = line.split()
        parts.add(part)
        if not (root / part).is_dir():
            found.append(f"{RINGS}:{number}: there is no {part}")
        for suite in suites:
            if suite not in known:
                found.append(f"{RINGS}:{number}: there is no suite {suite}")
    for folder in sorted((root / "sdk").iterdir()):
        if folder.is_dir() and f"sdk/{folder.name}/" not in parts:
            found.append(f"{RINGS}:1: sdk/{folder.name}/ has no line")
    return found


def check(root) -> list[str]:
    return begins_alike(root) + rings(root)


FIXTURE = {
    README: "# a\n## Two commands\n```sh\nsamples/run # one\ntests/run # two\n```\n",
    CI: (
        'tell() {\n    cmake --version\n}\nstage machine "packages" install_everything\n'
        'stage a "tests/run: all" \\\n    tests/run --fast\nstage c "one" tell\n'
    ),
    RINGS: "# part suites\nsdk/core/ python thread-sanitizer\nsdk/gone/ perl\n",
    TESTS: "clients=(python\n    go)\nbrokers=(artemis)\n",
    "sdk/core/a.cpp": "\n",
    "sdk/amqp/a.cpp": "\n",
}
EXPECTED = [".ci/run:4", ".ci/run:7", "README.md:2", ".ci/rings:3", ".ci/rings:3", ".ci/rings:1"]
