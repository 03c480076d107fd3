# SPDX-License-Identifier: MIT
"""Arrows between the parts point down only. The table is that of sdk/ARCHITECTURE.md."""

from source_text import includes, sources

# part -> the parts right below it; a part may include what it can reach.
BELOW = {
    "core": [],
    "timing": ["core"],
    "dispatch": ["core"],
    "ports": ["timing"],
    "processor": ["ports", "dispatch", "timing"],
    "broker": ["timing"],
    "in_process": ["ports", "broker"],
    "amqp": ["timing"],
    "servicebus": ["ports", "amqp"],
    "groups": ["ports", "amqp"],
    "server": ["broker", "amqp"],
    "client": ["processor", "in_process", "servicebus", "groups", "server"],
    "tools": ["client", "server"],
    "telemetry": ["core"],
}


def reachable(part: str) -> set[str]:
    below = set(BELOW[part])
    for lower in BELOW[part]:
        below |= reachable(lower)
    return below


def check(root) -> list[str]:
    found = []
    for path in sources(root, "sdk"):
        part = path.relative_to(root / "sdk").parts[0]
        if part not in BELOW:
            found.append(f"{path.relative_to(root)}:1: '{part}' is not a part")
            continue
        allowed = reachable(part) | {part}
        for number, name, angled in includes(path):
            if angled:
                continue
            where = f"{path.relative_to(root)}:{number}"
            target = name.split("/")[0]
            if target not in BELOW:
                found.append(f'{where}: "{name}" is not named from the root sdk/')
            elif target not in allowed:
                found.append(f"{where}: {part} may not include {target}")
    for path in sources(root, "include", "samples"):
        for number, name, angled in includes(path):
            target = name.split("/")[0]
            if (
                target in BELOW
                or target in ("sdk", "..")
                or (not angled and path.is_relative_to(root / "include"))
            ):
                found.append(f"{path.relative_to(root)}:{number}: {name} is inside the library")
    return found


FIXTURE = {
    "include/sessionq/a.hpp": (
        '#include <vector>\n#include <sessionq/b.hpp>\n#include "core/clock.hpp"\n'
    ),
    "samples/01_a.cpp": (
        '#include <sessionq/a.hpp>\n#include <../sdk/core/clock.hpp>\n#include "reader.hpp"\n'
    ),
    "sdk/client/ok.cpp": (
        '#include "broker/engine.hpp"\n#include "core/clock.hpp"\n#include <sessionq/a.hpp>\n'
    ),
    "sdk/core/up.cpp": '#include "core/clock.hpp"\n  # include "timing/timer.hpp"\n',
    "sdk/extra/a.hpp": "\n",
    "sdk/ports/side.hpp": '#include "dispatch/lane.hpp"\n',
    "sdk/processor/relative.hpp": (
        '#include "../core/clock.hpp"\n#include "slot.hpp"\n#include "in_process/link.hpp"\n'
    ),
    "sdk/tools/ok.cpp": '#include "server/front.hpp"\n',
}
EXPECTED = [
    "sdk/core/up.cpp:2",
    "sdk/extra/a.hpp:1",
    "sdk/ports/side.hpp:1",
    "sdk/processor/relative.hpp:1",
    "sdk/processor/relative.hpp:2",
    "sdk/processor/relative.hpp:3",
    "include/sessionq/a.hpp:3",
    "samples/01_a.cpp:2",
]
