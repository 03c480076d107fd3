// SPDX-License-Identifier: MIT
#include "in_process/confirmations.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

#include "support/held_journal.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

struct ConfirmationsFixture {
    void give(int value, std::function<void()> then = {}) {
        confirmations->reply<int>(
            [this, then = std::move(then)](const core::Result<int>& result) {
                log += result ? std::to_string(result.value())
                              : std::string{to_string(result.failure().code)};
                log += ";";
                if (then) {
                    then();
                }
            },
            value);
    }

    test::ManualLoop loop{};
    in_process::TurnQueueUse turns{std::make_shared<in_process::TurnQueue>(loop)};
    test::HeldJournal journal{};
    std::unique_ptr<in_process::Confirmations> confirmations{
        std::make_unique<in_process::Confirmations>(turns.shared(), nullptr)};
    std::string log{};
};

} // namespace

TEST_CASE("confirmations: replies come by a later turn, in order, once") {
    ConfirmationsFixture f;
    f.give(1);
    f.give(2);
    CHECK(f.log.empty());
    f.loop.run_until_idle();
    CHECK(f.log == "1;2;");
    f.confirmations->cancel();
    CHECK(f.log == "1;2;");
}

TEST_CASE("confirmations: waiting replies are cancelled at once, also from within a reply") {
    ConfirmationsFixture f;
    f.give(1, [&] { f.confirmations->cancel(); });
    f.give(2);
    f.loop.run_until_idle();
    CHECK(f.log == "1;cancelled;");
}

TEST_CASE("confirmations: a request from within a reply is answered by a later turn") {
    ConfirmationsFixture f;
    f.loop.run_until_idle();
    f.give(1, [&] { f.give(2); });
    f.loop.turn();
    CHECK(f.log == "1;");
    f.loop.run_until_idle();
    CHECK(f.log == "1;2;");
}

TEST_CASE("confirmations: destroying them drops the replies") {
    ConfirmationsFixture f;
    f.give(1);
    f.confirmations.reset();
    f.loop.run_until_idle();
    CHECK(f.log.empty());
}

namespace {

struct JournalFixture : ConfirmationsFixture {
    JournalFixture() {
        confirmations = std::make_unique<in_process::Confirmations>(turns.shared(), &journal);
    }
    ports::RequestId confirm(core::Result<int> answer, Deadline deadline = Deadline::never()) {
        const auto id = confirmations->confirm<int>(
            [this](const core::Result<int>& result) {
                log += result ? std::to_string(result.value())
                              : std::string{to_string(result.failure().code)};
                log += !result && result.failure().outcome_unknown ? "?;" : ";";
            },
            std::move(answer), deadline);
        loop.run_until_idle();
        return id;
    }
    void keep(const std::optional<Failure>& why = std::nullopt) {
        journal.answer(why);
        loop.run_until_idle();
    }
};

} // namespace

TEST_CASE("confirmations: a change is confirmed once it is kept, or fails with the journal's "
          "reason; a failed change does not wait") {
    JournalFixture f;
    f.confirm(1);
    f.confirm(Failure{.code = Errc::timeout});
    CHECK(f.log == "timeout;");
    f.journal.answer();
    CHECK(f.log == "timeout;"); // on the loop only
    f.loop.run_until_idle();
    CHECK(f.log == "timeout;1;");
    f.confirm(2);
    f.keep(Failure{.code = Errc::quota_exceeded});
    CHECK(f.log == "timeout;1;quota_exceeded;");
}

TEST_CASE("confirmations: one that is held ends at its deadline, or when it is given up, with an "
          "unknown outcome; the journal's answer comes too late") {
    JournalFixture f;
    f.confirm(1, Deadline::after(5s, f.loop.now()));
    const auto id = f.confirm(2);
    f.confirm(3);
    f.confirmations->give_up(id);
    CHECK(f.log == "cancelled?;");
    f.loop.advance(5s);
    CHECK(f.log == "cancelled?;timeout?;");
    f.keep();
    CHECK(f.log == "cancelled?;timeout?;3;");
    f.confirmations->give_up(id);
    CHECK(f.log == "cancelled?;timeout?;3;");
}

TEST_CASE("confirmations: held ones are cancelled at once, and dropped ones are never answered") {
    JournalFixture f;
    f.confirm(1);
    f.confirmations->cancel();
    CHECK(f.log == "cancelled?;");
    f.keep();
    CHECK(f.log == "cancelled?;");
    JournalFixture dropped;
    dropped.confirm(1);
    dropped.confirmations.reset();
    dropped.keep();
    CHECK(dropped.log.empty());
}
