# SPDX-License-Identifier: MIT
"""What an attack leaves behind in an entity: a client with all rights can show it, receive it and
remove it, and is not cut."""

import subprocess
import time

from amqp_wire import Array, Int, Long, decode
from wire_client import RECEIVE, Client, Closed, Management

ACTIVE, DEFERRED, SCHEDULED = range(3)  # x-opt-message-state
DEAD_LETTERS = "/$DeadLetterQueue"
SECONDS = 120  # a loaded machine shows 64 MiB in a few
LONGEST_LOCK = 30  # of the attackers
OWN_LOCK = 8  # of sessions that were looked at here
MOST_SHOWN = 500  # letters of what a program said


class Wrong(Exception):
    """What could not be done, as text."""


class Left:
    """A message that was left behind."""

    def __init__(self, encoded):
        self.sequence, self.state, self.session = 0, ACTIVE, None
        at = 0
        while at < len(encoded) and encoded[at + 2] < 0x74:  # what follows may be large
            section, at = decode(encoded, at)
            if section.code == 0x72:
                self.sequence = section.value["x-opt-sequence-number"]
                self.state = section.value.get("x-opt-message-state", ACTIVE)
            elif section.code == 0x73 and len(section.value) > 10:
                self.session = section.value[10]


class Tool:
    """The program sessionq, with all rights."""

    def __init__(self, program, connection):
        self.command = [program, "--connection", connection, "--json"]

    def run(self, *words):
        """Returns what it printed. Raises Wrong if it fails."""
        try:
            done = subprocess.run(
                [*self.command, *words], capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired as late:
            raise Wrong(f"'{' '.join(words)}' takes more than {SECONDS} s") from late
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace")[-MOST_SHOWN:].strip()
            raise Wrong(f"'{' '.join(words)}' fails: {said}")
        return done.stdout


class Examination:
    """Of one entity: `look` shows what it has, `clear` removes it."""

    def __init__(self, port, tool, entity):
        self.port, self.tool, self.entity = port, tool, entity

    def look(self):
        self.tool.run("counts", self.entity)
        self.tool.run("peek", self.entity)
        return self.peek_all()

    def peek_all(self):
        management = Management(Client(self.port, timeout=SECONDS), self.entity)
        found, start = [], 0
        while True:
            body = {"from-sequence-number": Long(start), "message-count": Int(250)}
            status, answer = management.ask("peek-message", body)
            if status not in (200, 204):
                raise Wrong(f"a peek at {self.entity} has {status}")
            page = [Left(each["message"]) for each in answer["messages"]] if answer else []
            if not page:
                management.client.close()
                return found
            found += page
            start = page[-1].sequence + 1

    def clear_all(self, until):
        """Also what is locked for an attacker who was cut, once its lock is over. Raises Wrong if
        something stays then."""
        while wrong := self.try_to_clear():
            if time.monotonic() > until:
                raise Wrong(wrong)
            time.sleep(1)

    def try_to_clear(self):
        """Returns what hinders it."""
        try:
            stay = self.clear(self.look())
        except Wrong as wrong:
            return str(wrong)
        states = sorted({each.state for each in stay})
        return f"{len(stay)} messages of {self.entity} stay, in the states {states}" if stay else ""

    def clear(self, left):
        """Returns what stays."""
        self.tool.run("receive", self.entity, "--wait", "1s", "--count", "3")
        self.receive_deferred([each for each in left if each.state == DEFERRED])
        self.cancel([each.sequence for each in left if each.state == SCHEDULED])
        self.tool.run("purge", self.entity, "--yes")
        return self.peek_all()

    def receive_deferred(self, left):
        """Those whose time to live is over go now, and are not there. Others that cannot be
        received stay."""
        by_session = {}
        for each in left:
            by_session.setdefault(each.session, []).append(each.sequence)
        for session, sequences in by_session.items():
            client = Client(self.port, timeout=SECONDS)
            management = Management(client, self.entity)
            words = {}
            if session is not None:
                words["associated-link-name"] = self.accept(client, session)
            for sequence in sequences:
                body = {"sequence-numbers": Array([sequence]), "receiver-settle-mode": 0}
                status, _ = management.ask("receive-by-sequence-number", body, **words)
                if status not in (200, 404):
                    raise Wrong(f"deferred message {sequence} of {self.entity} has {status}")
            client.close()

    def accept(self, client, session):
        handle = client.attach(self.entity, RECEIVE, session=session)
        return client.names[handle]

    def cancel(self, sequences):
        if not sequences:
            return
        client = Client(self.port, timeout=SECONDS)
        management = Management(client, self.entity)
        for at in range(0, len(sequences), 1000):
            body = {"sequence-numbers": Array(sequences[at : at + 1000])}
            status, _ = management.ask("cancel-scheduled-message", body)
            if status != 200:
                raise Wrong(f"a cancel at {self.entity} has {status}")
        client.close()


def examine(port, tool, entities):
    """Returns what is wrong with entities that were attacked. Afterwards they are empty."""
    wrong = []
    over = time.monotonic() + LONGEST_LOCK
    for entity in entities:
        for part in (entity, entity + DEAD_LETTERS):
            examination = Examination(port, tool, part)
            try:
                examination.clear_all(max(over, time.monotonic() + OWN_LOCK))
            except Wrong as found:
                wrong.append(str(found))
            except (Closed, OSError) as cut:
                wrong.append(f"whoever reads {part} is cut: {cut!r}")
    return wrong
