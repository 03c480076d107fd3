# SPDX-License-Identifier: MIT
"""The rules for a log of fault_load (see tests/faults/load.cpp) on a broker with message groups,
whatever happened to broker and network.

Nothing is lost: each message whose send was confirmed was received.
Order: in each group, a message is first received right after the one before it. Within a lock the
order never goes back.
Errors: none says that the broker broke the protocol. A broker that is down or not ready says so.
Duplicates: only messages that were held, or settled without an answer, when a connection or a
consumer was lost. If one program receives a message twice, the second one is marked as delivered
before. Copies of a repeated send may come at any later place.

Artemis 2.56 may deliver a message twice to one consumer when another one's connection is lost just
then. It finds out when the second is settled: it has no such reference, and ends the link with an
error that names the group. One step back of that group is then the broker's. It may do so with
several groups at once; the error that ends the link then names one of them. In another group a step
back is the broker's too if it sent both right after one another and marked both as delivered
before.
"""

import collections
import re
import sys

DELIVERED_TWICE = re.compile(r"groupId='([^']*)'.*AMQ229027: Could not find reference")


class GroupOracle:
    def __init__(self, answers_settlements):
        self.answers_settlements = answers_settlements
        self.violations = []
        self.figures = collections.Counter()
        self.attempts = collections.Counter()  # by (group, number)
        self.confirmed = set()
        self.seen_by = collections.defaultdict(
            set
        )  # (group, number): the programs that received it
        self.completed = set()
        self.expected = {}  # by group: the next new number
        self.in_lease = {}  # by lease: the last number received
        self.last_marked = {}  # by lease: the last number and its place, if delivered before
        self.open = {}  # by (program, group): its lease
        self.went_back = collections.defaultdict(list)  # by group
        self.delivered_twice = set()  # by the broker: groups

    def violate(self, what, *words):
        self.figures["violations"] += 1
        if len(self.violations) < 20:
            self.violations.append(f"{what}: {' '.join(map(str, words))}")

    def read(self, lines):
        for line in lines:
            words = line.split()
            if not line.endswith("\n") or not words:
                continue  # its writer was killed
            getattr(self, "on_" + words[0])(*words[1:])

    def on_A(self, group, number):
        self.figures["sends_tried"] += 1
        self.attempts[group, int(number)] += 1
        self.expected.setdefault(group, int(number))

    def on_S(self, group, number):
        self.figures["sends_confirmed"] += 1
        self.confirmed.add((group, int(number)))

    def on_O(self, lease, group):
        self.figures["leases"] += 1
        owner = lease.split(".")[0], group
        if owner in self.open:
            self.violate(
                "two handlers of one group in one program", lease, group, "beside", self.open[owner]
            )
        self.open[owner] = lease

    def on_R(self, lease, group, number, place, delivery_count):
        number, place, message = int(number), int(place), (group, int(number))
        program = lease.split(".")[0]
        self.figures["received"] += 1
        is_copy = self.attempts[message] > 1
        if self.seen_by[message]:
            self.figures["received_again"] += 1
            if message in self.completed:
                self.figures["received_again_after_settled"] += 1
                if self.answers_settlements and not is_copy:
                    self.violate(
                        "came back although its settlement was answered", lease, group, number
                    )
            if program in self.seen_by[message] and not is_copy and delivery_count == "0":
                self.violate("came again unmarked", lease, group, number)
        else:
            if number != self.expected.get(group):
                self.violate(
                    "out of order", lease, group, number, "instead of", self.expected.get(group)
                )
            self.expected[group] = number + 1
        if number <= self.in_lease.get(lease, -1) and not is_copy:
            twice = self.last_marked.get(lease) == (number, place - 1) and delivery_count != "0"
            self.went_back[group].append((lease, number, twice))
        self.last_marked[lease] = (number, place) if delivery_count != "0" else None
        self.seen_by[message].add(program)
        self.in_lease[lease] = max(number, self.in_lease.get(lease, -1))

    def on_C(self, lease, group, number, _):
        self.figures["completions"] += 1
        self.completed.add((group, int(number)))

    def on_X(self, lease, group, reason):
        self.figures["left_" + reason] += 1
        self.open.pop((lease.split(".")[0], group), None)

    def on_E(self, *text):
        self.figures["errors"] += 1
        if "broke the protocol" in (line := " ".join(text)):
            self.violate("not understood", line)
        elif "is not active" in line:
            self.figures["errors_while_recovering"] += 1
        elif found := DELIVERED_TWICE.search(line):
            self.delivered_twice.add(found[1])

    def finish(self):
        """Returns the violations at the end of the log."""
        for group, steps in self.went_back.items():
            named = group in self.delivered_twice
            excused = 1 if named or (self.delivered_twice and steps[0][2]) else 0
            self.figures["delivered_twice_by_the_broker"] += excused
            for lease, number, _ in steps[excused:]:
                self.violate("went back", lease, group, number)
        for group, number in sorted(
            self.confirmed - {message for message, by in self.seen_by.items() if by}
        ):
            self.violate("lost", group, number)
        return self.violations


def self_test():
    def finds(what, log, answers=True):
        oracle = GroupOracle(answers)
        oracle.read(line.strip() + "\n" for line in log.split(","))
        found = {violation.split(":")[0] for violation in oracle.finish()}
        assert found == ({what} if what else set()), (log, found)

    both = "A s 0, S s 0, A s 1, S s 1, O 1.1 s, "
    finds(None, both + "R 1.1 s 0 1 0, C 1.1 s 0 1, R 1.1 s 1 2 0")
    finds(
        None,
        both + "R 1.1 s 0 1 0, X 1.1 s connection_lost, O 1.2 s, R 1.2 s 0 9 1, R 1.2 s 1 10 0",
    )
    finds(None, both + "R 1.1 s 0 1 0, O 2.1 s, R 2.1 s 0 9 0, R 2.1 s 1 10 0")
    finds(
        None,
        both
        + "R 1.1 s 0 1 0, C 1.1 s 0 1, X 1.1 s connection_lost, O 1.2 s, "
        + "R 1.2 s 0 9 1, R 1.2 s 1 10 0",
        answers=False,
    )
    finds(
        "came back although its settlement was answered",
        both + "R 1.1 s 0 1 0, C 1.1 s 0 1, X 1.1 s idle, O 1.2 s, R 1.2 s 0 9 1, R 1.2 s 1 1 0",
    )
    finds(
        "came again unmarked",
        both + "R 1.1 s 0 1 0, X 1.1 s connection_lost, O 1.2 s, R 1.2 s 0 9 0, R 1.2 s 1 10 0",
    )
    finds("lost", both + "R 1.1 s 0 1 0")
    finds(
        "out of order", both + "R 1.1 s 1 1 0, X 1.1 s idle, O 1.2 s, R 1.2 s 0 1 0, A s 1, A s 0"
    )
    back = both + "R 1.1 s 0 1 0, R 1.1 s 1 1 0, R 1.1 s 0 1 1"
    error = ", E lost [peer: groupId='{}' AMQ229027: Could not find reference on consumerId = 0]"
    finds("went back", back)
    finds(None, back + error.format("s"))
    finds("went back", back + error.format("other"))
    finds("went back", back + ", R 1.1 s 0 1 1" + error.format("s"))
    twice = both + "R 1.1 s 0 1 1, R 1.1 s 0 2 1, R 1.1 s 1 3 0"
    finds("went back", twice)
    finds(None, twice + error.format("other"))
    finds("went back", twice.replace("0 1 1", "0 1 0") + error.format("other"))
    finds("went back", twice.replace(" 2 1", " 4 1") + error.format("other"))
    finds("went back", twice + ", R 1.1 s 1 4 1" + error.format("other"))
    finds(
        "not understood",
        both + "E connect: the peer broke the protocol, R 1.1 s 0 1 0, R 1.1 s 1 2 0",
    )
    finds(
        "two handlers of one group in one program", both + "R 1.1 s 0 1 0, O 1.2 s, R 1.2 s 1 2 0"
    )


if __name__ == "__main__":
    self_test()
    if len(sys.argv) > 1:
        judge = GroupOracle(sys.argv[2:] == ["answers"])
        with open(sys.argv[1], encoding="utf-8") as file:
            judge.read(file)
        print("\n".join(judge.finish()))
        print(dict(judge.figures))
