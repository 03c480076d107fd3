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
    HeldJournal journal{};
    std::unique_ptr<CommitGate> gate{std::make_unique<CommitGate>(&journal, loop)};
    std::string said{};
};

} // namespace

TEST_CASE("CommitGate: without a journal it is always open") {
    ManualLoop loop;
    CHECK(CommitGate{nullptr, loop}.is_always_open());
    Gate held;
    CHECK_FALSE(held.gate->is_always_open());
}

TEST_CASE("CommitGate: says nothing before its time, then all that a commit covers, in order, for "
          "one question") {
    Gate held;
    held.journal.append({});
    held.wait("a");
    held.journal.append({});
    held.wait("b");
    held.loop.run_until_idle();
    CHECK(held.said.empty());
    CHECK(held.journal.waiting.size() == 1);
    held.journal.answer();
    CHECK(held.said.empty()); // on the loop only
    held.loop.run_until_idle();
    CHECK(held.said == "a b ");
    CHECK(held.journal.waiting.empty());
    CHECK(held.gate->waiting() == 0);
}

TEST_CASE("CommitGate: what came after the commit waits for the next, and a commit that failed "
          "fails only what it covers") {
    Gate held;
    held.journal.append({});
    held.wait("a");
    held.journal.answer(Failure{.code = Errc::server_busy});
    held.journal.append({});
    held.wait("b"); // before the loop has heard of the first
    held.loop.run_until_idle();
    CHECK(held.said == "a! ");
    CHECK(held.journal.waiting.size() == 1);
    held.answer();
    CHECK(held.said == "a! b ");
}

TEST_CASE("CommitGate: an action may wait anew") {
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

TEST_CASE("CommitGate: an action that waits anew for what failed is answered by the next commit, "
          "not by the same") {
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

TEST_CASE("CommitGate: when it is gone nothing is said") {
    Gate held;
    held.wait("a");
    held.gate.reset();
    held.answer();
    CHECK(held.said.empty());
}
