# SPDX-License-Identifier: MIT
"""Public headers show no Proton or OpenSSL type, Asio in async.hpp and boost_asio.hpp only,
OpenTelemetry in opentelemetry.hpp only, and nlohmann/json in json.hpp only.

They cite no rule of the design by number, and say "lock", not "lease".
"""

import re


from source_text import includes, lines_matching, sources

FOREIGN_INCLUDE = ("proton/", "openssl/", "sqlite3", "wslay/", "CLI/")
FOREIGN_NAME = r"\bpn_\w+|\bproton::|\bSSL(_\w+)?\b|\bEVP_\w+"
INNER_WORD = re.compile(r"\bR\d+\b|\b[Ll]eases?\b|_leases?\b|leases?_")
ASIO_HEADERS = (
    "include/sessionq/async.hpp",
    "include/sessionq/boost_asio.hpp",
)
OPENTELEMETRY_HEADER = "include/sessionq/opentelemetry.hpp"
JSON_HEADER = "include/sessionq/json.hpp"


def is_asio(included: str) -> bool:
    return included.split("/")[0] in ("asio", "asio.hpp", "boost")


def check(root) -> list[str]:
    found = []
    for path in sources(root, "include"):
        name = str(path.relative_to(root))
        for number, included, _ in includes(path):
            if included.startswith(FOREIGN_INCLUDE):
                found.append(f"{name}:{number}: {included}: not in a public header")
            elif is_asio(included) and name not in ASIO_HEADERS:
                found.append(f"{name}:{number}: {included}: Asio is in {ASIO_HEADERS[0]} only")
            elif included.startswith("opentelemetry/") and name != OPENTELEMETRY_HEADER:
                found.append(
                    f"{name}:{number}: {included}: OpenTelemetry is in {OPENTELEMETRY_HEADER} only"
                )
            elif included.startswith("nlohmann/") and name != JSON_HEADER:
                found.append(f"{name}:{number}: {included}: JSON is in {JSON_HEADER} only")
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if match := INNER_WORD.search(line):
                found.append(f"{name}:{number}: {match.group(0)}: not in a public header")
        found += lines_matching(root, [path], FOREIGN_NAME, "not in a public header")
        if name != JSON_HEADER:
            found += lines_matching(
                root, [path], r"\bnlohmann::\w+", f"JSON is in {JSON_HEADER} only"
            )
        if name not in ASIO_HEADERS:
            found += lines_matching(
                root, [path], r"\basio::\w+", f"Asio is in {ASIO_HEADERS[0]} only"
            )
    return found


FIXTURE = {
    "include/sessionq/async.hpp": (
        "#include <asio/awaitable.hpp>\n#include <nlohmann/json.hpp>\nasio::awaitable<void> f();\n"
    ),
    "include/sessionq/client.hpp": (
        "#include <asio/any_io_executor.hpp>\n// nlohmann::json\n"
        "void f(asio::any_io_executor e);\nvoid g(SSL_CTX* c);\nnlohmann::json h();\n"
    ),
    "include/sessionq/json.hpp": (
        "#include <nlohmann/json.hpp>\nnlohmann::json f();\nSSL* g();\n"
    ),
    "include/sessionq/opentelemetry.hpp": "#include <opentelemetry/trace/tracer.h>\n",
    "include/sessionq/sessionq.hpp": "#include <opentelemetry/trace/tracer.h>\n",
    "include/sessionq/rule.hpp": "/// Renewed (R11).\nint leases_lost;\n// release\n",
    "sdk/client/client.cpp": "#include <asio.hpp>\n",
}
EXPECTED = [
    "include/sessionq/async.hpp:2",
    "include/sessionq/client.hpp:1",
    "include/sessionq/client.hpp:4",
    "include/sessionq/client.hpp:5",
    "include/sessionq/client.hpp:3",
    "include/sessionq/json.hpp:3",
    "include/sessionq/rule.hpp:1",
    "include/sessionq/rule.hpp:2",
    "include/sessionq/sessionq.hpp:1",
]
