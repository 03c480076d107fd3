// SPDX-License-Identifier: MIT
#include "ports/accept_book.hpp"

#include <doctest/doctest.h>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using ports::AcceptBook;

namespace {

/// A link that says when it goes.
class Link final : public ports::SessionLink {
public:
    explicit Link(std::string& log) : log_{log} {}
    ~Link() override { log_ += "session back;"; }

    [[nodiscard]] const std::string& session_id() const noexcept override { return id_; }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override { return {}; }
    ports::FirstCredit set_events(ports::LinkEvents&) override { return {}; }
    void add_credit(std::uint32_t) override {}
    void drain() override {}
    void settle(ports::Delivery&, ports::Settlement&&) override {}
    ports::RequestId renew_lock(Deadline, LockHandler) override { return 0; }
    ports::RequestId get_state(Deadline, StateHandler) override { return 0; }
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
    std::string& log_;
    std::string id_{"a"};
};

class Asking final : public ports::Asking {
public:
    explicit Asking(std::string& log) : log_{log} {}
    ~Asking() override { log_ += "stopped;"; }

private:
    std::string& log_;
};

struct Case {
    void accept(ports::RequestId id, Deadline deadline = {}) {
        book->add(id, deadline, [this, id](core::Result<ports::SessionLinkPtr> answer) {
            log += std::to_string(id) + ":" +
                   (answer.ok() ? "session" : std::string{to_string(answer.failure().code)}) + ";";
            if (answer.ok()) {
                link = std::move(answer).value();
            }
        });
        book->ask(id, std::make_unique<Asking>(log));
    }
    void grant(ports::RequestId id) {
        book->answer(id, ports::SessionLinkPtr{std::make_unique<Link>(log)});
    }
    std::string take() {
        loop.run_until_idle();
        return std::exchange(log, {});
    }

    test::ManualLoop loop{};
    std::string log{};
    ports::SessionLinkPtr link{};
    std::unique_ptr<AcceptBook> book{std::make_unique<AcceptBook>(loop)};
};

} // namespace

TEST_CASE("R15: accept book: the first answer counts and comes by a later turn") {
    Case t;
    t.accept(1);
    t.grant(1);
    CHECK(t.log.empty());
    t.book->answer(1, Failure{.code = Errc::connection_lost});
    t.grant(1);
    CHECK(t.take() == "session back;stopped;1:session;");
    t.grant(1); // it has its answer
    CHECK(t.take() == "session back;");
    t.book->answer(7, Failure{.code = Errc::timeout});
    CHECK(t.take().empty());
    t.accept(2);
    t.book->answer(2, Failure{.code = Errc::unauthorized});
    CHECK(t.take() == "stopped;2:unauthorized;");
}

TEST_CASE("R19: accept book: an accept that is given up stops asking at once; a session that "
          "crossed it is handed over, a later one goes back") {
    Case t;
    t.accept(1);
    t.book->give_up(1);
    CHECK(t.log == "stopped;");
    t.grant(1);
    CHECK(t.take() == "stopped;session back;1:cancelled;");
    t.accept(2);
    t.grant(2);
    t.book->give_up(2);
    CHECK(t.take() == "stopped;2:session;");
    t.book->give_up(2);
    t.book->give_up(9);
    CHECK(t.take().empty());
}

TEST_CASE("R20: accept book: an accept ends at its deadline") {
    Case t;
    const TimePoint now = t.loop.now();
    CHECK(t.book->expire(now).is_never());
    t.accept(1, Deadline::after(2s, now));
    t.accept(2, Deadline::after(1s, now));
    t.accept(3);
    CHECK(t.book->expire(now) == Deadline::after(1s, now));
    CHECK(t.take().empty());
    CHECK(t.book->expire(now + 1s) == Deadline::after(2s, now));
    CHECK(t.take() == "stopped;2:timeout;");
    t.grant(1);
    CHECK(t.book->expire(now + 2s).is_never()); // answered in time
    CHECK(t.take() == "stopped;1:session;");
}

TEST_CASE("R15: accept book: its end answers what is left, and gives sessions back") {
    Case t;
    t.accept(1);
    t.accept(2);
    t.grant(2);
    t.book.reset();
    CHECK(t.log == "stopped;1:cancelled;stopped;session back;2:cancelled;");
    CHECK(t.loop.run_until_idle() <= 1);
    CHECK(t.link == nullptr);
}

TEST_CASE("accept book: an accept ends without a session after its wait, but with a timeout at its "
          "deadline") {
    Case t;
    const TimePoint now = t.loop.now();
    t.accept(1, Deadline::after(5s, now));
    t.book->wait(1, Deadline::after(2s, now));
    t.accept(2, Deadline::after(2s, now));
    t.book->wait(2, Deadline::after(2s, now));
    t.accept(3);
    t.book->wait(3, Deadline::after(1s, now));
    t.book->wait(9, Deadline::after(1s, now));
    CHECK(t.book->expire(now) == Deadline::after(1s, now));
    t.grant(3);
    CHECK(t.book->expire(now + 1s) == Deadline::after(2s, now));
    CHECK(t.take() == "stopped;3:session;"); // in time
    CHECK(t.book->expire(now + 2s).is_never());
    CHECK(t.take() == "stopped;stopped;1:no_session_available;2:timeout;");
}

TEST_CASE("accept book: an answer may be given within the caller's turn, once, and may end the "
          "book") {
    Case t;
    t.accept(1);
    t.book->answer_now(1, Failure{.code = Errc::unauthorized});
    CHECK(t.log == "stopped;1:unauthorized;");
    t.log.clear();
    t.book->answer_now(1, Failure{.code = Errc::unauthorized});
    t.accept(2);
    t.book->give_up(2);
    t.book->answer_now(2, ports::SessionLinkPtr{std::make_unique<Link>(t.log)});
    CHECK(t.take() == "stopped;session back;2:cancelled;");
    t.book->add(3, {}, [&](const auto&) { t.book.reset(); });
    t.book->answer_now(3, Failure{.code = Errc::timeout});
    CHECK(t.book == nullptr);
}

TEST_CASE("accept book: closing answers what is left at once, and it can be used again") {
    Case t;
    t.accept(1);
    t.book->close();
    CHECK(t.log == "stopped;1:cancelled;");
    t.log.clear();
    t.book->close();
    t.accept(2);
    t.grant(2);
    CHECK(t.take() == "stopped;2:session;");
}
