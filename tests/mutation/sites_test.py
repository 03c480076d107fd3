#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows which changes sites.py finds in a small source, and which it leaves out."""

import sys
import unittest

from sites import NUMBER, sites

SOURCE = """\
#include <vector>
namespace a {
struct Limits {
    int most{3};
};
constexpr int last = 7;

int Queue::take(std::vector<int>& to, int most) {
    if (auto found = find(to)) {
        return 0;
    }
    if (most < 2 && !to.empty()) { // at least 2
        note("most < 2; it's");
        core::log(LogLevel::debug, "queue", "few");
    }
    const int left = most - 1;
    auto each = Queue{left};
    each.run([this](int n) {
        count_ = n;
        return true;
    });
    to.reserve(5);
    switch (left) {
    case 4: done_ = left >= 4; break;
    default: return most;
    }
    return left == 0 ? last : 1'000;
}
} // namespace a
"""

FOUND = [
    (12, "negate", "(most < 2 && !to.empty()) -> !(most < 2 && !to.empty())"),
    (12, "bound", "most < 2 && !to.empty() -> most <= 2 && !to.empty()"),
    (12, "constant", "most < 2 && !to.empty() -> most < 3 && !to.empty()"),
    (13, "delete", 'note("most < 2; it\'s"); -> nothing'),
    (16, "constant", "most - 1 -> most - 2"),
    (19, "delete", "count_ = n; -> nothing"),
    (20, "constant", "true -> false"),
    (18, "delete", "each.run([this](int n) { count_ = n; return true; }); -> nothing"),
    (24, "delete", "done_ = left >= 4; -> nothing"),
    (24, "bound", "done_ = left >= 4 -> done_ = left > 4"),
    (24, "constant", "done_ = left >= 4 -> done_ = left >= 5"),
    (10, "constant", "0 -> 1"),
    (27, "bound", "left == 0 ? last : 1'000 -> left != 0 ? last : 1'000"),
    (27, "constant", "left == 0 ? last : 1'000 -> left == 1 ? last : 1'000"),
]


def applied(kind: str, line: int) -> str:
    """The line of the source with the first change of this kind there."""
    site = next(each for each in sites(SOURCE) if (each.kind, each.line) == (kind, line))
    text = SOURCE[: site.start] + site.text.replace(NUMBER, "7") + SOURCE[site.end :]
    return text.split("\n")[line - 1].strip()


class SitesTest(unittest.TestCase):
    maxDiff = None

    def test_finds_each_change_once(self):
        found = [(site.line, site.kind, site.summary) for site in sites(SOURCE)]
        self.assertEqual(sorted(found), sorted(FOUND))

    def test_keeps_the_original_behind_the_switch(self):
        on = "::sessionq::mutation::on(7)"
        self.assertEqual(
            applied("negate", 12),
            f"if ({on} != static_cast<bool>(most < 2 && !to.empty())) {{ // at least 2",
        )
        self.assertEqual(
            applied("bound", 12),
            f"if ({on} ? (most <= 2 && !to.empty()) : (most < 2 && !to.empty())) {{ // at least 2",
        )
        self.assertEqual(applied("delete", 19), f"if (!{on}) {{ count_ = n; }}")
        self.assertEqual(
            applied("bound", 27),
            f"return {on} ? (left != 0 ? last : 1'000) : (left == 0 ? last : 1'000);",
        )

    def test_keeps_every_line_in_its_place(self):
        for site in sites(SOURCE):
            self.assertEqual(site.text.count("\n"), SOURCE[site.start : site.end].count("\n"))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
