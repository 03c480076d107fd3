// SPDX-License-Identifier: MIT
// A day of a client that holds sessions and does nothing else: the real client's links and the real
// broker's front, on manual time. Only the bytes travel in real time, over loopback.
#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>

#include "amqp/codec/lock_token.hpp"
#include "amqp/connector.hpp"
#include "broker/broker.hpp"
#include "core/random.hpp"
#include "ports/lock_keeper.hpp"
#include "server/server.hpp"
#include "servicebus/endpoint.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

enum class TellsTime : std::uint8_t { no, yes };

/// A stream to a broker that does not tell its time.
class Timeless final : public amqp::Stream, private amqp::StreamListener {
public:
    explicit Timeless(amqp::StreamPtr stream) : stream_{std::move(stream)} {
        stream_->set_listener(this);
    }
    ~Timeless() override { stream_->set_listener(nullptr); }

    void read() override { stream_->read(); }
    void write(std::string& bytes) override { stream_->write(bytes); }
    void shut() override { stream_->shut(); }
    void close() noexcept override { stream_->close(); }
    [[nodiscard]] std::string peer() const override { return stream_->peer(); }

private:
    void on_read(std::string_view bytes) override {
        std::string read{bytes};
        if (const auto at = read.find(amqp::broker_time); at != std::string::npos) {
            read[at] = '-';
        }
        listener_->on_read(read);
    }
    void on_written() override { listener_->on_written(); }
    void on_failed(const Failure& failure) override { listener_->on_failed(failure); }

    amqp::StreamPtr stream_;
};

/// The usual tokens, counted.
class CountedTokens final : public detail::servicebus::TokenSource {
public:
    explicit CountedTokens(int& count) : count_{count} {}
    void ask(std::string_view audience, WallTime now, Deadline deadline, Handler handler) override {
        ++count_;
        tokens_->ask(audience, now, deadline, std::move(handler));
    }

private:
    int& count_;
    const detail::servicebus::TokenSourcePtr tokens_{
        detail::servicebus::make_key_tokens("RootManageSharedAccessKey", "SAS_KEY_VALUE")};
};

class Day {
public:
    explicit Day(WallTime::duration ahead = {}, TellsTime tells_time = TellsTime::yes) {
        brokers_loop_.clock().step_wall_clock(ahead);
        static_cast<void>(
            broker_.create_queue("orders", {.requires_session = true, .lock_duration = 30s}, now())
                .value());
        detail::servicebus::EndpointSettings settings;
        settings.target = {.host = "127.0.0.1", .port = server_->listen({.port = 0}).value()};
        settings.tokens = std::make_unique<CountedTokens>(tokens);
        if (tells_time == TellsTime::no) {
            settings.dial = [](amqp::ConnectionHost& host, const amqp::Target& target,
                               TimePoint deadline, amqp::Dialed dialed) {
                return amqp::dial_socket(
                    host, target, deadline, [dialed](core::Result<amqp::StreamPtr> stream) {
                        dialed(amqp::StreamPtr{
                            std::make_shared<Timeless>(std::move(stream).take_or_throw())});
                    });
            };
        }
        endpoint_ = std::make_unique<detail::servicebus::Endpoint>(loop, io_, std::move(settings));
    }
    ~Day() {
        endpoint_.reset();
        server_.reset();
        turn_until([] { return false; }, 20);
    }

    [[nodiscard]] ports::Endpoint& endpoint() { return *endpoint_; }

    /// What there is to do at this instant, until `done`; gives up after so many milliseconds
    /// without anything to do.
    bool turn_until(const std::function<bool()>& done, int patience = 5000) {
        for (int idle = 0; !done() && idle < patience;) {
            io_.restart();
            idle = loop.turn() || brokers_loop_.turn() || io_.run_one_for(1ms) != 0 ? 0 : idle + 1;
        }
        return done();
    }

    /// Time passes for both sides; the broker ends what has run out before it reads what is on its
    /// way.
    void pass(Duration length) {
        loop.advance(length);
        brokers_loop_.advance(length);
        broker_.advance(now());
    }

    test::ManualLoop loop{};
    int tokens{0};

private:
    [[nodiscard]] broker::Instant now() const {
        return {brokers_loop_.now(), brokers_loop_.wall_now()};
    }

    test::ManualLoop brokers_loop_{};
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
    broker::Broker broker_{};
    std::unique_ptr<server::Server> server_{std::make_unique<server::Server>(
        broker_, brokers_loop_, io_,
        server::AccessPolicy{.keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}})};
    std::unique_ptr<detail::servicebus::Endpoint> endpoint_{};
};

/// Holds one session as a processor does: by the decisions of a lock keeper.
class Holder final : public ports::LinkEvents {
public:
    Holder(Day& day, const std::string& session) : day_{day} {
        const TimePoint asked = day.loop.now();
        bool answered = false;
        day.endpoint().accept({.entity = "orders", .session_id = session},
                              [&, this](core::Result<ports::SessionLinkPtr> link) {
                                  answered = true;
                                  REQUIRE(link.ok());
                                  link_ = std::move(link).value();
                              });
        REQUIRE(day.turn_until([&] { return answered; }));
        link_->set_events(*this);
        lock_.accepted(asked, day.loop.now(), link_->initial_lock());
    }

    /// When something is to be done for the lock.
    [[nodiscard]] TimePoint due() const { return std::max(lock_.next(), day_.loop.now()); }
    void renew_if_due() {
        const ports::LockActions actions = lock_.look(day_.loop.now(), true);
        REQUIRE_FALSE(actions.warn);
        REQUIRE_FALSE(actions.lost);
        if (!actions.renew) {
            return;
        }
        link_->renew_lock(
            {}, [this, asked = day_.loop.now()](const core::Result<ports::LockGrant>& grant) {
                REQUIRE(grant.ok());
                REQUIRE_FALSE(lock_.answered(asked, day_.loop.now(), grant).lost);
                ++renewals;
            });
    }
    [[nodiscard]] bool is_renewing() const {
        return lock_.phase() == ports::LockKeeper::Phase::renewing;
    }

    ports::DeliveryPtr new_delivery() override { return std::make_unique<ports::Delivery>(); }
    void on_delivery(ports::DeliveryPtr delivery) override { got = std::move(delivery); }
    void on_settled(ports::Delivery&, const Failure*) override {}
    void on_drained() override {}
    void on_lock_uncertain() override { lock_.became_uncertain(day_.loop.now()); }
    void on_lost(const Failure& reason) override { lost = reason; }
    /// Lets one message come.
    void take_one() { link_->add_credit(1); }

    int renewals{0};
    ports::DeliveryPtr got{};
    std::optional<Failure> lost{};

private:
    Day& day_;
    ports::LockKeeper lock_{};
    ports::SessionLinkPtr link_{};
};

} // namespace

TEST_CASE("a day of renewals lets no lock expire, whatever the way to the broker takes up to its "
          "margin") {
    Day day;
    core::Random random{20'26};
    std::deque<Holder> holders;
    for (const char* session : {"a", "b", "c"}) {
        holders.emplace_back(day, session);
    }
    const TimePoint end = day.loop.now() + 24h;
    while (day.loop.now() < end) {
        TimePoint next = day.loop.now() + 20s; // no longer without a look at the connection
        for (Holder& each : holders) {
            next = std::min(next, each.due());
        }
        day.pass(next - day.loop.now());
        for (Holder& each : holders) {
            each.renew_if_due();
        }
        if (std::any_of(holders.begin(), holders.end(),
                        [](const Holder& each) { return each.is_renewing(); })) {
            day.pass(std::chrono::milliseconds{static_cast<int>(random.below(5000))}); // on its way
        }
        REQUIRE(day.turn_until([&] {
            return std::none_of(holders.begin(), holders.end(),
                                [](const Holder& each) { return each.is_renewing(); });
        }));
        for (const Holder& each : holders) {
            if (each.lost) {
                FAIL("a lock was lost: " << each.lost->to_string());
            }
        }
    }
    for (const Holder& each : holders) {
        CHECK(each.renewals >=
              24 * 60 * 60 / 25); // what a renewal takes on its way, the broker adds to the lock
        CHECK(each.renewals <= 24 * 60 * 60 / 20 + 1);
    }
    CHECK(day.tokens >=
          2 * 24 * 60 / 46); // the entity's and its $management's, each before its hour is over
    CHECK(day.tokens <= 2 * 24 * 60 / 40);
}

TEST_CASE("R12: a renewal that is slow on its way ends where the broker has it, no sooner") {
    Day day;
    ports::SessionLinkPtr link;
    day.endpoint().accept(
        {.entity = "orders", .session_id = "a"},
        [&](core::Result<ports::SessionLinkPtr> answer) { link = std::move(answer).value(); });
    REQUIRE(day.turn_until([&] { return link != nullptr; }));
    for (const Duration way : {Duration{0s}, Duration{5s}, Duration{20s}}) {
        CAPTURE(way.count());
        std::optional<Duration> length;
        link->renew_lock({}, [&](const core::Result<ports::LockGrant>& grant) {
            length = grant.value().length;
        });
        day.pass(way);
        REQUIRE(day.turn_until([&] { return length.has_value(); }));
        CHECK(*length ==
              way + 30s); // from the asking; the broker's thirty seconds began when it was asked
    }
}

TEST_CASE("R12: a broker's clock that is a minute ahead costs sessions once, and none once a fresh "
          "message has come, or if the broker tells its time") {
    TellsTime tells_time = TellsTime::no;
    SUBCASE("told") { tells_time = TellsTime::yes; }
    SUBCASE("not told") {}
    Day day{1min, tells_time};
    const auto hold = [&](Holder& holder, Duration length) {
        for (const TimePoint end = day.loop.now() + length; day.loop.now() < end && !holder.lost;) {
            day.pass(1s);
            holder.renew_if_due();
            day.turn_until([] { return false; }, 2);
        }
        return !holder.lost.has_value();
    };
    std::unique_ptr<Holder> holder;
    const auto accept = [&] {
        holder.reset();
        holder = std::make_unique<Holder>(day, "a");
    };
    SUBCASE("without a message the first session that is held for longer than its lock is lost, "
            "and no other") {
        accept();
        CHECK(hold(*holder, 40s) == (tells_time == TellsTime::yes));
        accept();
        CHECK(hold(*holder, 3min));
    }
    SUBCASE("a session that gets a fresh message is not lost") {
        accept();
        holder->take_one();
        bool sent = false;
        day.endpoint().send(
            {.entity = "orders", .messages = {Message::of("x").in_session("a")}},
            [&](const core::Result<std::vector<std::int64_t>>& answer) { sent = answer.ok(); });
        REQUIRE(day.turn_until([&] { return sent && holder->got != nullptr; }));
        CHECK(hold(*holder, 3min));
        CHECK(holder->renewals <= 10);
    }
    holder.reset();
}
