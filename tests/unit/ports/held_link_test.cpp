// SPDX-License-Identifier: MIT
#include "ports/held_link.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/manual_loop.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using ports::HeldLink;
using HeldLockPtr = std::shared_ptr<ports::OwnLock>;

namespace {

/// A link that notes the requests to it, with or without locks of messages.
class NotingLink final : public ports::SessionLink, private ports::MessageLocks {
public:
    struct Notes {
        bool locks_messages{true};
        std::string log{};
        std::function<void()> at_settle{[] {}}; ///< from within the call
        std::vector<std::uint64_t> renewed{};   ///< tags
        std::deque<ports::MessageLocks::Handler> renewals{};
        std::deque<StateHandler> readers{};
    };

    explicit NotingLink(Notes& notes) : notes_{notes} {}
    ~NotingLink() override {
        notes_.log += "gone;";
        notes_.renewals.clear();
        notes_.readers.clear();
    }

    [[nodiscard]] const std::string& session_id() const noexcept override { return id_; }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override { return {}; }
    ports::FirstCredit set_events(ports::LinkEvents&) override { return {}; }
    void add_credit(std::uint32_t) override {}
    void drain() override {}
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override {
        notes_.log += std::string{to_string(settlement.outcome)} + " " +
                      std::to_string(delivery.port_tag) + ";";
        notes_.at_settle();
    }
    ports::RequestId renew_lock(Deadline, LockHandler) override { return 0; }
    [[nodiscard]] ports::MessageLocks* message_locks() noexcept override {
        return notes_.locks_messages ? this : nullptr;
    }
    ports::RequestId get_state(Deadline, StateHandler handler) override {
        notes_.readers.push_back(std::move(handler));
        return notes_.readers.size();
    }
    ports::RequestId set_state(std::optional<std::string>, Deadline, DoneHandler) override {
        return 0;
    }
    ports::RequestId receive_deferred(std::vector<std::int64_t>, Deadline,
                                      DeliveriesHandler) override {
        return 0;
    }
    void give_up(ports::RequestId) override {}
    void close(DoneHandler) override {}

private:
    ports::RequestId renew(std::vector<std::uint64_t> tags, Deadline,
                           ports::MessageLocks::Handler handler) override {
        notes_.renewed.insert(notes_.renewed.end(), tags.begin(), tags.end());
        notes_.renewals.push_back(std::move(handler));
        return 42;
    }

    Notes& notes_;
    std::string id_{"a"};
};

struct HeldBench {
    explicit HeldBench(bool locks_messages = true) : notes{.locks_messages = locks_messages} {}

    void keep(ports::OwnLocks::Settings settings = {}) {
        link.keep_message_locks(loop, notifier, std::move(settings));
    }
    /// A delivery with a lock of 10 s, where the link has such.
    HeldLockPtr deliver(std::uint64_t tag, ports::Delivery* held = nullptr) {
        ports::Delivery delivery;
        delivery.port_tag = tag;
        delivery.lock = 10s;
        return link.lock_of(delivery, held);
    }
    /// The tags of the locks that were to be renewed since it was asked last.
    std::vector<std::uint64_t> take_renewed() { return std::exchange(notes.renewed, {}); }

    using Tags = std::vector<std::uint64_t>;

    test::ManualLoop loop{};
    test::QueueExecutor notifier{};
    NotingLink::Notes notes;
    HeldLink link{std::make_unique<NotingLink>(notes)};
};

} // namespace

TEST_CASE(
    "held link: where messages have no locks of their own each has null, and may be asked for") {
    HeldBench bench{false};
    bench.keep();
    CHECK_FALSE(bench.link.locks_messages());
    CHECK(bench.deliver(1) == nullptr);
    bench.link.restart(nullptr);
    bench.link.became_uncertain();
    bench.link.forget(nullptr);
    ports::Delivery delivery;
    delivery.port_tag = 1;
    bench.link.settle(delivery, {.outcome = ports::Outcome::abandon}, nullptr);
    CHECK(bench.notes.log == "abandon 1;");
    bench.loop.advance(1h);
    CHECK(bench.take_renewed().empty());
    CHECK(bench.link->session_id() == "a");
}

TEST_CASE("held link: R11: locks of messages are renewed where they are kept, and not before") {
    HeldBench bench;
    CHECK_FALSE(bench.link.locks_messages());
    CHECK(bench.deliver(1) == nullptr);
    bench.keep();
    CHECK(bench.link.locks_messages());
    const HeldLockPtr lock = bench.deliver(2);
    REQUIRE(lock != nullptr);
    bench.loop.advance(5s);
    CHECK(bench.take_renewed() == HeldBench::Tags{2});
    const ports::Delivery unlocked;
    CHECK(bench.link.lock_of(unlocked) == nullptr);
}

TEST_CASE("held link: R12: locks that became uncertain are renewed at once") {
    HeldBench bench;
    bench.keep();
    const HeldLockPtr lock = bench.deliver(1);
    bench.link.became_uncertain();
    bench.loop.advance(1ms);
    CHECK(bench.take_renewed() == HeldBench::Tags{1});
}

TEST_CASE("held link: a lock is renewed for max_renewal from its restart on") {
    HeldBench bench;
    bench.keep({.max_renewal = 4s});
    const HeldLockPtr left = bench.deliver(1);
    const HeldLockPtr restarted = bench.deliver(2);
    bench.loop.advance(3s);
    bench.link.restart(restarted.get());
    bench.link.restart(nullptr);
    bench.loop.advance(2s);
    CHECK(bench.take_renewed() == HeldBench::Tags{2});
}

TEST_CASE(
    "held link: R13: of a lock that is lost the owner hears with the delivery that it holds") {
    HeldBench bench;
    std::vector<ports::Delivery*> lost;
    bench.keep({.lost = [&lost](ports::Delivery* held) { lost.push_back(held); }});
    ports::Delivery held;
    const HeldLockPtr with_holder = bench.deliver(1, &held);
    bench.loop.advance(1s);
    const HeldLockPtr without = bench.deliver(2);
    bench.loop.advance(10s); // nothing is answered
    CHECK(lost == std::vector<ports::Delivery*>{&held, nullptr});
    CHECK(with_holder->is_lost());
}

TEST_CASE("held link: a lock that is forgotten is renewed no more, and not lost") {
    HeldBench bench;
    bench.keep();
    const HeldLockPtr forgotten = bench.deliver(1);
    const HeldLockPtr kept = bench.deliver(2);
    bench.link.forget(forgotten.get());
    bench.link.forget(forgotten.get());
    bench.link.forget(nullptr);
    bench.loop.advance(5s);
    CHECK(bench.take_renewed() == HeldBench::Tags{2});
    bench.loop.advance(1min);
    CHECK_FALSE(forgotten->is_lost());
    CHECK(kept->is_lost());
}

TEST_CASE("held link: R8: a lock is forgotten before its message is settled") {
    HeldBench bench;
    bench.keep();
    HeldLockPtr lock = bench.deliver(1);
    ports::OwnLock* const settled = lock.get();
    const std::weak_ptr<ports::OwnLock> last_owner_is_keeper = std::exchange(lock, nullptr);
    REQUIRE_FALSE(last_owner_is_keeper.expired());
    bool was_forgotten = false;
    bench.notes.at_settle = [&] { was_forgotten = last_owner_is_keeper.expired(); };
    ports::Delivery delivery;
    delivery.port_tag = 1;
    bench.link.settle(delivery, {.outcome = ports::Outcome::complete}, settled);
    CHECK(bench.notes.log == "complete 1;");
    CHECK(was_forgotten);
    bench.loop.advance(5s);
    CHECK(bench.take_renewed().empty());
}

TEST_CASE("held link: a lock is renewed by hand, and the link's request is named") {
    HeldBench bench;
    bench.keep({.renewal = ports::OwnLocks::Renewal::by_hand});
    const HeldLockPtr lock = bench.deliver(1);
    bench.loop.advance(6s);
    CHECK(bench.take_renewed().empty());
    std::optional<core::Result<Deadline>> answer;
    CHECK(bench.link.renew(
              lock, {}, [&answer](core::Result<Deadline> got) { answer = std::move(got); }) == 42);
    CHECK(bench.take_renewed() == HeldBench::Tags{1});
    bench.notes.renewals.front()({ports::LockGrant{.length = 10s}});
    REQUIRE(answer);
    CHECK(answer->value() == Deadline::after(10s, bench.loop.now()));
}

TEST_CASE("held link: R13: after drop nothing is there, and the locks of messages are lost") {
    HeldBench bench;
    bench.keep();
    const HeldLockPtr lock = bench.deliver(1);
    CHECK(bench.link.is_there());
    bench.link.drop();
    CHECK_FALSE(bench.link.is_there());
    CHECK_FALSE(bench.link.locks_messages());
    CHECK(bench.notes.log == "gone;");
    CHECK(lock->is_lost());
    CHECK(bench.deliver(2) == nullptr);
    bench.link.restart(lock.get());
    bench.link.became_uncertain();
    bench.link.forget(lock.get());
    bench.loop.advance(1min);
    CHECK(bench.take_renewed().empty());
    bench.link.drop(); // again
}

TEST_CASE("held link: R15: after drop the state answers no request from before, and later ones "
          "fail at once") {
    HeldBench bench;
    std::string answers;
    const auto tell = [&answers](const auto& answer) {
        answers += (answer.ok() ? "ok" : std::string{to_string(answer.failure().code)}) + ";";
    };
    bench.link.state().get({}, tell);
    bench.link.state().set("waits", {}, tell);
    REQUIRE(bench.notes.readers.size() == 1);
    bench.link.drop();
    CHECK(answers.empty());
    bench.link.state().get({}, tell);
    CHECK(std::exchange(answers, {}) == "lock_lost;");
    bench.link.state().set("late", {}, tell);
    CHECK(std::exchange(answers, {}) == "lock_lost;");
    bench.link.state().read_record({}, tell);
    CHECK(std::exchange(answers, {}) == "lock_lost;");
    bench.link.state().write_record("late", {}, tell);
    CHECK(std::exchange(answers, {}) == "lock_lost;");
}

TEST_CASE("held link: the state is asked over the link that is held") {
    HeldBench bench;
    std::string answer;
    bench.link.state().get({}, [&answer](const core::Result<std::optional<std::string>>& got) {
        answer = got.ok() ? got.value().value_or("none") : "failed";
    });
    REQUIRE(bench.notes.readers.size() == 1);
    bench.notes.readers.front()(std::optional<std::string>{"half way"});
    CHECK(answer == "half way");
}
