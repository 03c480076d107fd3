# SPDX-License-Identifier: MIT
"""The rules for a log of fault_load (see load.cpp), whatever happened to broker and network.

Nothing is lost: each message whose send was confirmed was received.
Order: in each session, a message is first received right after the one before it. It never comes
after a later message whose completion was confirmed, except as a copy of a repeated send. Within a
lock the order never goes back.
Nothing comes back: a message whose completion was confirmed is not received again.
Copies: there are no more copies than tries to send.
"""

import collections
import sys


class Oracle:
    def __init__(self):
        self.violations = []
        self.figures = collections.Counter()
        self.attempts = collections.Counter()  # by (session, number)
        self.confirmed = set()
        self.sequences = collections.defaultdict(set)  # by message: the copies received
        self.completed = set()  # (session, number, sequence)
        self.highest_completed = {}  # by session
        self.expected = {}  # by session: the next new number
        self.in_lease = {}  # by lease: the last number received

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

    def on_A(self, session, number):
        self.figures["sends_tried"] += 1
        self.attempts[session, int(number)] += 1
        self.expected.setdefault(session, int(number))

    def on_S(self, session, number):
        self.figures["sends_confirmed"] += 1
        self.confirmed.add((session, int(number)))

    def on_O(self, lease, session):
        self.figures["leases"] += 1

    def on_R(self, lease, session, number, sequence, delivery_count):
        number, sequence = int(number), int(sequence)
        message = (session, number)
        self.figures["received"] += 1
        if (session, number, sequence) in self.completed:
            self.violate(
                "came back after its completion was confirmed", lease, session, number, sequence
            )
        if sequence in self.sequences[message]:
            self.figures["received_again"] += 1
        elif self.sequences[message]:
            self.figures["copies"] += 1
        else:
            if number != self.expected.get(session):
                self.violate(
                    "out of order", lease, session, number, "instead of", self.expected.get(session)
                )
            self.expected[session] = number + 1
        self.sequences[message].add(sequence)
        if len(self.sequences[message]) > self.attempts[message]:
            self.violate("more copies than sends", lease, session, number, sequence)
        is_late = number < max(self.in_lease.get(lease, 0), self.highest_completed.get(session, 0))
        if is_late and self.attempts[message] == 1:
            self.violate("went back", lease, session, number, sequence)
        self.in_lease[lease] = number

    def on_C(self, lease, session, number, sequence):
        self.figures["completions_confirmed"] += 1
        self.completed.add((session, int(number), int(sequence)))
        self.highest_completed[session] = max(self.highest_completed.get(session, 0), int(number))

    def on_X(self, lease, session, reason):
        self.figures["left_" + reason] += 1

    def on_E(self, *text):
        self.figures["errors"] += 1

    def finish(self):
        """Returns the violations at the end of the log."""
        for session, number in sorted(
            self.confirmed - {message for message, come in self.sequences.items() if come}
        ):
            self.violate("lost", session, number)
        return self.violations


def self_test():
    def finds(what, log):
        oracle = Oracle()
        oracle.read(line.strip() + "\n" for line in log.split(","))
        found = {violation.split(":")[0] for violation in oracle.finish()}
        assert found == ({what} if what else set()), (log, found)

    both = "A s 0, S s 0, A s 1, S s 1, O l s, "
    finds(None, both + "R l s 0 1 0, C l s 0 1, R l s 1 2 0, C l s 1 2, X l s idle")
    finds(None, both + "R l s 0 1 0, X l s connection_lost, O m s, R m s 0 1 0, R m s 1 2 0")
    finds(None, "A s 0, A s 0, S s 0, R l s 0 1 0, C l s 0 1, R l s 0 2 0")
    finds(None, "A s 7, S s 7, R l s 7 1 0, A s 8, R l s 8 2 0")
    finds("lost", both + "R l s 0 1 0")
    finds(
        "out of order",
        both
        + "R l s 1 2 0, C l s 1 2, R l s 0 1 0".replace("C l s 1 2, R l s 0 1 0", "X l s idle")
        + ", A s 0, R l s 0 1 0",
    )
    finds(
        "came back after its completion was confirmed",
        both + "R l s 0 1 0, C l s 0 1, R m s 0 1 0, R m s 1 2 0",
    )
    finds("went back", both + "R l s 0 1 0, R l s 1 2 0, R l s 0 1 0")
    finds(
        "went back",
        both + "R l s 0 1 0, R l s 1 2 0, C l s 1 2, X l s connection_lost, R m s 0 1 0",
    )
    finds("more copies than sends", both + "R l s 0 1 0, R m s 0 9 0, R m s 1 2 0")


if __name__ == "__main__":
    self_test()
    if len(sys.argv) > 1:
        judge = Oracle()
        with open(sys.argv[1], encoding="utf-8") as log:
            judge.read(log)
        print("\n".join(judge.finish()))
        print(dict(judge.figures))
