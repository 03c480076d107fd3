// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "server/commit_gate.hpp"
#include "support/held_journal.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::server;
using namespace sessionq::test;

namespace {

struct Gate {
    void wait(const std::string& name) {
        gate->when_durable(
            [this, name](const Failure* why) { said += name + (why != nullptr ? "! " : " "); });
    }
    void answer(const std::optional<Failure>& why = std::nullopt) {
        journal.answer(why);
        loop.run_until_idle();
    }

    ManualLoop loop{};
    core::TurnLine turns{loop};
    HeldJournal journal{};
    std::unique_ptr<CommitGate> gate{std::make_unique<CommitGate>(&journal, loop, turns)};
    std::string said{};
};

} // namespace

TEST_CASE("CommitGate: is always open without a journal") {
    ManualLoop loop;
    core::TurnLine turns{loop};
    CHECK(CommitGate{nullptr, loop, turns}.is_always_open());
    Gate held;
    CHECK_FALSE(held.gate->is_always_open());
}

TEST_CASE("CommitGate: runs actions in order after their commit and asks the journal once") {
    Gate held;
    held.journal.append({});
    held.wait("a");
    held.journal.append({});
    held.wait("b");
    held.loop.run_until_idle();
    CHECK(held.said.empty());
    CHECK(held.journal.waiting.size() == 1);
    held.journal.answer();
    CHECK(held.said.empty()); // only on the loop
    held.loop.run_until_idle();
    CHECK(held.said == "a b ");
    CHECK(held.journal.waiting.empty());
    CHECK(held.gate->waiting() == 0);
}

TEST_CASE(
    "CommitGate: later actions wait for the next commit; a failed commit fails only its own") {
    Gate held;
    held.journal.append({});
    held.wait("a");
    held.journal.answer(Failure{.code = Errc::server_busy});
    held.journal.append({});
    held.wait("b"); // before the loop gets the first answer
    held.loop.run_until_idle();
    CHECK(held.said == "a! ");
    CHECK(held.journal.waiting.size() == 1);
    held.answer();
    CHECK(held.said == "a! b ");
}

TEST_CASE("CommitGate: an action may wait again") {
    Gate held;
    held.gate->when_durable([&](const Failure*) {
        held.journal.append({});
        held.wait("again");
    });
    held.answer();
    CHECK(held.said.empty());
    held.answer();
    CHECK(held.said == "again ");
}

TEST_CASE("CommitGate: an action that waits again after a failure is answered by the next commit") {
    Gate held;
    int failures = 0;
    std::function<void(const Failure*)> insist = [&](const Failure* why) {
        if (why == nullptr) {
            held.said += "done ";
        } else if (++failures < 10) {
            held.gate->when_durable(insist);
        }
    };
    held.journal.append({});
    held.gate->when_durable(insist);
    held.answer(Failure{.code = Errc::server_busy});
    CHECK(failures == 1);
    held.answer(Failure{.code = Errc::server_busy});
    CHECK(failures == 2);
    CHECK(held.said.empty());
    held.answer();
    CHECK(held.said == "done ");
}

TEST_CASE("CommitGate: destroying it drops the waiting actions") {
    Gate held;
    held.wait("a");
    held.gate.reset();
    held.answer();
    CHECK(held.said.empty());
}

TEST_CASE("CommitGate: many actions run in turns, in order, and a later answer waits for them") {
    Gate held;
    for (int i = 0; i < 250; ++i) {
        held.journal.append({});
        held.wait(std::to_string(i));
    }
    bool has_run = false;
    held.turns.add([&] { has_run = held.said.find("249 ") == std::string::npos; });
    held.journal.answer();
    held.journal.append({});
    held.wait("late");
    held.loop.run_until_idle();
    CHECK(has_run);
    CHECK(held.said.ends_with("248 249 "));
    held.answer(Failure{.code = Errc::internal_error});
    CHECK(held.said.ends_with("248 249 late! "));
    CHECK(held.gate->waiting() == 0);
}
