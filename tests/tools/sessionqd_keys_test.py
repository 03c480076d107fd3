#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionqd_keys_test.py SESSIONQ SESSIONQD: what each key may do, and which keys the daemon takes.

Tried with the command line, and with a client that shares no code with the product.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
# pylint: disable=wrong-import-position
from amqp_wire import ACCEPTED, Described, message, shared_access_token
from wire_client import RECEIVE, SEND, Client, Requests

sessionq, sessionqd = sys.argv[1:3]
QUICK = 20  # seconds; far more than it takes
ORDERS = "sb://localhost/orders"
KEYS = {
    "all": "one",
    "listener": "two:listen",
    "sender": "three:send",
    "both": "four:listen:send",
    "manager": "five:manage",
    "of-orders": "six@/Orders/",
}


def value_of(name):
    return re.split("[:@]", KEYS[name])[0]


def start(*options, environment=None, listen="127.0.0.1:0"):
    command = [sessionqd, "--listen", listen, "--queue", "orders:session", *options]
    command += ["--queue", "others:session", "--queue", "plain"]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ, **(environment or {})),
    )


def config_of(*queues):
    queues = [{"Name": name} for name in queues]
    return json.dumps({"UserConfig": {"Namespaces": [{"Name": "n", "Queues": queues}]}})


def port_of(daemon):
    return int(re.search(r"amqp://[\d.]+:(\d+)", daemon.stdout.readline()).group(1))


class Rights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = [part for key in KEYS.items() for part in ("--key", "=".join(key))]
        cls.daemon = start(*options)
        cls.port = port_of(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.terminate()
        cls.daemon.communicate(timeout=60)

    def try_it(self, key, *arguments):
        """Returns nothing, or the words of the refusal."""
        connection = (
            f"Endpoint=sb://127.0.0.1:{self.port};SharedAccessKeyName={key};"
            f"SharedAccessKey={value_of(key)};UseDevelopmentEmulator=true"
        )
        done = subprocess.run(
            [sessionq, *arguments],
            capture_output=True,
            text=True,
            timeout=QUICK,
            check=False,
            env=dict(os.environ, SESSIONQ_CONNECTION=connection),
        )
        self.assertNotIn(value_of(key), done.stdout + done.stderr)
        if done.returncode == 0:
            return None
        self.assertRegex(done.stderr, "unauthorized", arguments)
        return done.stderr

    def test_each_operation_needs_its_right(self):
        sending = [("send", "orders", "--session", "a", "body")]
        listening = [
            ("peek", "orders"),
            ("sessions", "orders"),
            ("state", "set", "orders", "--session", "a", "kept"),
            ("state", "get", "orders", "--session", "a"),
            ("receive", "orders", "--session", "a", "--wait", "0"),
        ]
        for key in KEYS:
            for operations, right in ((sending, "sender"), (listening, "listener")):
                other = "listener" if right == "sender" else "sender"
                for operation in operations:
                    with self.subTest(key=key, operation=operation):
                        said = self.try_it(key, *operation)
                        self.assertEqual(said is not None, key == other, said)

    def test_a_key_of_an_entity_opens_no_other(self):
        self.assertIsNone(self.try_it("of-orders", "peek", "orders"))
        self.assertIsNone(self.try_it("of-orders", "peek", "orders/$DeadLetterQueue"))
        for entity in ("others", "plain", "others/$DeadLetterQueue"):
            self.assertIsNotNone(self.try_it("of-orders", "peek", entity))

    def test_a_value_that_is_another_keys_opens_nothing(self):
        for name, key in (("listener", "three"), ("nobody", "one"), ("all", ""), ("", "one")):
            with self.subTest(name=name):
                client = Client(self.port, timeout=QUICK, name=None)
                token = shared_access_token(ORDERS, name=name, key=key or "x")
                self.assertEqual(Requests(client, "$cbs").put_token(ORDERS, token), 401)
                client.close()

    def token(self, key, audience=ORDERS):
        return shared_access_token(audience, name=key, key=value_of(key))

    def test_a_claim_with_fewer_rights_ends_the_links_that_it_does_not_cover(self):
        client = Client(self.port, timeout=QUICK, name=None)
        claims = Requests(client, "$cbs")
        self.assertEqual(claims.put_token(ORDERS, self.token("both")), 202)
        receiver = client.attach("orders", RECEIVE, session="claimed")
        sender = client.attach("orders", SEND)
        self.assertEqual(claims.put_token(ORDERS, self.token("sender")), 202)
        while not client.detached:
            client.step()
        (condition,) = client.detached.values()
        self.assertEqual(list(client.detached), [client.remote[(client.names[receiver], SEND)]])
        self.assertIsInstance(condition, Described)
        self.assertEqual(condition.value[0], "amqp:unauthorized-access")
        self.assertIn("'Listen'", condition.value[1])
        self.assertNotIn(client.remote[(client.names[sender], RECEIVE)], client.detached)
        # and back
        self.assertEqual(claims.put_token(ORDERS, self.token("listener")), 202)
        while len(client.detached) < 2:
            client.step()
        client.attach("orders", RECEIVE, session="claimed")
        client.close()

    def test_a_claim_is_for_its_audience(self):
        client = Client(self.port, timeout=QUICK, name=None)
        claims = Requests(client, "$cbs")
        others = "sb://localhost/others"
        self.assertEqual(claims.put_token(others, self.token("of-orders", others)), 401)
        self.assertEqual(claims.put_token(others, self.token("all")), 401)
        whole = self.token("all", "sb://localhost/")
        self.assertEqual(claims.put_token(others, whole), 202)
        client.close()


class Keys(unittest.TestCase):
    def works(self, name, key, *options, environment=None, listen="127.0.0.1:0"):
        daemon = start(*options, environment=environment, listen=listen)
        try:
            client = Client(port_of(daemon), timeout=QUICK, name=None)
            token = shared_access_token(ORDERS, name=name, key=key)
            status = Requests(client, "$cbs").put_token(ORDERS, token)
            client.close()
        finally:
            daemon.terminate()
            daemon.communicate(timeout=60)
        return status == 202

    def refused(self, words, *options, environment=None, listen="127.0.0.1:0"):
        daemon = start(*options, environment=environment, listen=listen)
        try:
            out, err = daemon.communicate(timeout=QUICK)
        finally:
            daemon.kill()
        self.assertEqual((daemon.returncode, out), (2, ""), err)
        self.assertIn(words, err)
        self.assertNotIn("secret", err)

    def test_a_file_of_keys_is_its_owners_alone(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "keys"
            file.write_text("# ours\nmine=secret:listen\n", encoding="ascii")
            options = ("--key-file", str(file))
            file.chmod(0o600)
            self.assertTrue(self.works("mine", "secret", *options))
            self.assertFalse(self.works("RootManageSharedAccessKey", "SAS_KEY_VALUE", *options))
            for mode in (0o640, 0o604, 0o620):
                file.chmod(mode)
                self.refused("chmod 600", *options)
            file.chmod(0o600)
            file.write_text("mine:secret\n", encoding="ascii")
            self.refused("line 1", *options)
            self.refused("cannot be opened", "--key-file", str(file) + "-none")
            self.refused("cannot be opened", "--key-file", "")

    def test_keys_and_entities_are_read_again_at_a_signal_while_clients_are_served(self):
        with tempfile.TemporaryDirectory() as directory:
            keys, config = pathlib.Path(directory) / "keys", pathlib.Path(directory) / "config"
            keys.touch(0o600)
            keys.write_text("old=secret-1\nother=secret-0\n", encoding="ascii")
            config.write_text(config_of("first"), encoding="ascii")
            daemon = start("--key-file", str(keys), "--config", str(config))
            self.addCleanup(daemon.kill)
            port = port_of(daemon)

            def read_again(words):
                daemon.send_signal(signal.SIGHUP)
                line = daemon.stderr.readline()
                while line.startswith("sessionq warning"):  # of refused tokens
                    line = daemon.stderr.readline()
                self.assertIn(words, line)
                self.assertNotIn("secret", line)

            def claim(name, key):
                client = Client(port, timeout=QUICK, name=None)
                self.addCleanup(client.close)
                token = shared_access_token(ORDERS, name=name, key=key)
                return client, Requests(client, "$cbs").put_token(ORDERS, token)

            with_old = Client(port, timeout=QUICK, name="old", key="secret-1")
            with_other = Client(port, timeout=QUICK, name="other", key="secret-0")
            self.addCleanup(with_old.close)
            self.addCleanup(with_other.close)
            orders = with_old.attach("plain", SEND)
            others = with_other.attach("plain", SEND)
            with_token, status = claim("old", "secret-1")
            self.assertEqual(202, status)
            by_token = with_token.attach("orders", SEND)

            keys.write_text("new=secret-2\nother=secret-0\n", encoding="ascii")
            config.write_text(config_of("first", "second"), encoding="ascii")
            read_again("2 keys, 1 new queues")
            self.assertEqual(202, claim("new", "secret-2")[1])
            self.assertEqual(401, claim("old", "secret-1")[1])
            # a login ends with its key; a token lives on, and others are not touched
            while orders not in with_old.detached:
                with_old.step()
            self.assertEqual(ACCEPTED, with_other.send(others, message(b"1")))
            self.assertEqual(ACCEPTED, with_token.send(by_token, message(b"1", session="a")))
            second = with_other.attach("second", SEND)
            self.assertEqual(ACCEPTED, with_other.send(second, message(b"1")))

            keys.write_text("new:secret-2\n", encoding="ascii")
            read_again("nothing was changed: --key-file")
            keys.write_text("new=secret-2\n", encoding="ascii")
            config.write_text(config_of("second"), encoding="ascii")
            read_again("1 keys, 0 new queues")
            self.assertIn("'first' is missing or differs", daemon.stderr.readline())
            self.assertEqual(202, claim("new", "secret-2")[1])
            daemon.terminate()
            daemon.communicate(timeout=QUICK)
            self.assertEqual(0, daemon.returncode)

    def test_keys_come_from_the_environment(self):
        environment = {"SESSIONQD_KEY": "mine=secret"}
        self.assertTrue(self.works("mine", "secret", environment=environment))
        self.refused("SESSIONQD_KEY", environment={"SESSIONQD_KEY": "secret"})
        self.refused("SESSIONQD_KEY", environment={"SESSIONQD_KEY": ""})

    def test_the_key_that_everybody_knows_is_for_this_machine(self):
        everywhere = {"listen": "0.0.0.0:0"}
        remote = "--allow-plain-remote"
        self.assertTrue(self.works("RootManageSharedAccessKey", "SAS_KEY_VALUE"))
        self.refused("--key-file or SESSIONQD_KEY", remote, **everywhere)
        known = ("--key", "other=SAS_KEY_VALUE:send")
        self.refused("--key-file or SESSIONQD_KEY", remote, *known, **everywhere)
        self.assertTrue(self.works("k", "secret", remote, "--key", "k=secret", **everywhere))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
