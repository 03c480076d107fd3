// SPDX-License-Identifier: MIT
// A sender channel on a client's engine, and the server's engine in the test's hands.
#include "amqp/sender_channel.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/encoder.hpp"
#include "support/manual_loop.hpp"
#include "wire.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

Failure explain(const Condition& condition, std::string what) {
    return {.code = condition.name == "amqp:resource-limit-exceeded" ? Errc::quota_exceeded
                                                                     : Errc::connection_lost,
            .detail = std::move(what),
            .peer_condition = condition.name};
}

struct Bench {
    explicit Bench(bool batches = false) {
        wire.run();
        channel.emplace(loop,
                        SenderTerms{.entity = "orders", .batches = batches, .explain = explain},
                        [this](SenderChannel::EngineHandler handler) {
                            ++asked;
                            if (is_connected) {
                                handler(&wire.client);
                            } else {
                                waiting = std::move(handler);
                            }
                        });
    }
    void send(SenderChannel::SendId id, std::vector<std::string> messages,
              Deadline deadline = Deadline::never()) {
        channel->send(id, std::move(messages), deadline,
                      [this, id](const core::Result<SizeLimits>& result) {
                          results += std::to_string(id) + ":";
                          results += result.ok() ? "ok" : to_string(result.failure().code);
                          results += !result.ok() && result.failure().outcome_unknown ? "? " : " ";
                      });
    }
    /// Answers the client's attach, and gives credit.
    void give_credit(std::uint32_t credit) {
        run();
        if (!far().opened_by_test) {
            far().log->receiver->open(far().log->receiver->remote());
            far().opened_by_test = true;
        }
        far().log->receiver->add_credit(credit);
        run();
    }
    void run() {
        wire.run();
        loop.run_until_idle();
    }
    struct Far {
        LinkLog* log{nullptr};
        bool opened_by_test{false};
    };
    /// The server's end of the newest link.
    Far& far() {
        LinkLog* const newest = wire.server_log.sessions.back()->links.back().get();
        if (newest->receiver && !newest->receiver->is_gone()) {
            newest->receiver->set_listener(newest);
        }
        if (far_.log != newest) {
            newest->settles = true;
            far_ = {newest, false};
        }
        return far_;
    }
    /// Answers the message that came as number `at`.
    void answer(std::size_t at, const Outcome& outcome) {
        far().log->deliveries.at(at).update(outcome);
        far().log->deliveries.at(at).settle();
        run();
    }
    std::string told() { return std::exchange(results, {}); }

    ManualLoop loop{};
    Wire wire{};
    bool is_connected{true};
    int asked{0};
    SenderChannel::EngineHandler waiting{};
    std::string results{};
    std::optional<SenderChannel> channel{};
    Far far_{};
};

const Outcome accepted{.kind = OutcomeKind::accepted};

} // namespace

TEST_CASE("sender channel: sends wait for the connection and for credit, and are answered one by "
          "one") {
    Bench bench;
    bench.is_connected = false;
    bench.send(1, {"one"});
    CHECK(bench.wire.server_log.sessions.empty());
    bench.is_connected = true;
    bench.waiting(&bench.wire.client);
    bench.send(2, {"two"});
    bench.give_credit(1);
    CHECK(bench.far().log->messages == std::vector<std::string>{"one"});
    bench.give_credit(5);
    CHECK(bench.far().log->messages == std::vector<std::string>{"one", "two"});
    bench.answer(1, accepted);
    CHECK(bench.told() == "2:ok ");
    bench.answer(
        0, {.kind = OutcomeKind::rejected, .error = {.name = "amqp:resource-limit-exceeded"}});
    CHECK(bench.told() == "1:quota_exceeded ");
    bench.send(3, {"three"});
    bench.run();
    bench.answer(2, {.kind = OutcomeKind::released});
    CHECK(bench.told() == "3:server_busy ");
}

TEST_CASE("sender channel: what was given up while it waited for the connection is never sent") {
    Bench bench;
    bench.is_connected = false;
    bench.send(1, {"late"}, Deadline::after(5s, bench.loop.now()));
    const auto first = std::exchange(bench.waiting, nullptr);
    bench.send(2, {"unwanted"});
    const auto second = std::exchange(bench.waiting, nullptr);
    bench.send(3, {"wanted"});
    bench.channel->give_up(2);
    bench.loop.advance(5s);
    CHECK(bench.told() == "2:cancelled 1:timeout ");
    for (const auto& each : {first, second, bench.waiting}) {
        each(&bench.wire.client);
    }
    bench.give_credit(10);
    CHECK(bench.far().log->messages == std::vector<std::string>{"wanted"});
}

TEST_CASE("sender channel: a send whose deadline has passed is never sent") {
    Bench bench;
    bench.send(1, {"late"}, Deadline::at(bench.loop.now()));
    bench.send(2, {"wanted"});
    bench.give_credit(10);
    CHECK(bench.told() == "1:timeout ");
    CHECK(bench.far().log->messages == std::vector<std::string>{"wanted"});
}

TEST_CASE("sender channel: what was given up while it waited for credit is never sent") {
    Bench bench;
    bench.send(1, {"late"}, Deadline::after(5s, bench.loop.now()));
    bench.send(2, {"unwanted"});
    bench.send(3, {"wanted"});
    bench.give_credit(0);
    bench.channel->give_up(2);
    bench.loop.advance(5s);
    CHECK(bench.told() == "2:cancelled 1:timeout ");
    bench.give_credit(10);
    CHECK(bench.far().log->messages == std::vector<std::string>{"wanted"});
    bench.answer(0, accepted);
    CHECK(bench.told() == "3:ok ");
}

TEST_CASE("sender channel: a send that ends after it was sent says that its outcome is unknown") {
    Bench bench;
    bench.send(1, {"a"}, Deadline::after(5s, bench.loop.now()));
    bench.send(2, {"b"});
    bench.send(3, {"c"});
    bench.give_credit(2);
    bench.channel->give_up(2);
    bench.loop.advance(5s);
    CHECK(bench.told() == "2:cancelled? 1:timeout? ");
    bench.answer(0, accepted);
    CHECK(bench.told().empty()); // too late
    bench.give_credit(1);
    bench.wire.server.close({.name = "amqp:connection:forced"});
    bench.run();
    CHECK(bench.told() == "3:connection_lost? ");
}

TEST_CASE("sender channel: after a loss the link is attached anew for the next send") {
    Bench bench;
    bench.send(1, {"a"});
    bench.give_credit(0);
    bench.far().log->receiver->close({.name = "amqp:link:detach-forced"});
    bench.run();
    CHECK(bench.told() == "1:connection_lost ");
    bench.send(2, {"b"});
    bench.give_credit(1);
    CHECK(bench.far().log->messages == std::vector<std::string>{"b"});
    CHECK(bench.asked == 2);
}

TEST_CASE("sender channel: several messages are one batch where the broker knows batches") {
    Bench bench{true};
    bench.send(1, {"a", "b"});
    bench.send(2, {"c"});
    bench.give_credit(10);
    REQUIRE(bench.far().log->messages.size() == 2);
    CHECK(bench.far().log->messages[0] == make_batch({"a", "b"}));
    CHECK(bench.far().log->formats == std::vector<std::uint32_t>{batch_format, 0});
    bench.answer(0, accepted);
    CHECK(bench.told() == "1:ok ");
}

TEST_CASE("sender channel: elsewhere a send is answered when all its messages are, with the first "
          "failure") {
    Bench bench;
    bench.send(1, {"a", "b", "c"});
    bench.give_credit(2);
    bench.answer(
        1, {.kind = OutcomeKind::rejected, .error = {.name = "amqp:resource-limit-exceeded"}});
    bench.answer(0, {.kind = OutcomeKind::released});
    CHECK(bench.told().empty());
    bench.give_credit(1);
    bench.answer(2, accepted);
    CHECK(bench.told() == "1:quota_exceeded ");
    bench.send(2, {"d", "e"});
    bench.give_credit(1);
    bench.channel->give_up(2);
    bench.give_credit(5);
    CHECK(bench.told() == "2:cancelled? ");
    CHECK(bench.far().log->messages == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("sender channel: a message over the peer's limit fails without being sent") {
    Bench bench;
    bench.send(1, {std::string(200, 'x')});
    bench.send(2, {"small"});
    bench.run();
    Attach attach = bench.far().log->receiver->remote();
    attach.max_message_size = 100;
    bench.far().log->receiver->open(attach);
    bench.far().opened_by_test = true;
    bench.give_credit(10);
    CHECK(bench.told() == "1:message_too_large ");
    CHECK(bench.far().log->messages == std::vector<std::string>{"small"});
}

TEST_CASE("sender channel: messages that exceed the peer's limit together fail without being sent, "
          "also where each travels by itself") {
    for (const bool batches : {false, true}) {
        Bench bench{batches};
        bench.send(1, {std::string(60, 'x'), std::string(60, 'y')});
        bench.send(2, {"small", "too"});
        bench.run();
        Attach attach = bench.far().log->receiver->remote();
        attach.max_message_size = 100;
        bench.far().log->receiver->open(attach);
        bench.far().opened_by_test = true;
        bench.give_credit(10);
        CHECK(bench.told() == "1:message_too_large ");
        CHECK(bench.far().log->messages == (batches ? std::vector{make_batch({"small", "too"})}
                                                    : std::vector<std::string>{"small", "too"}));
    }
}

TEST_CASE("sender channel: the peer's limit is told once the link is open, without credit") {
    Bench bench;
    std::vector<std::uint64_t> limits;
    const auto note = [&limits](const core::Result<SizeLimits>& limit) {
        limits.push_back(limit.value().message);
        limits.push_back(limit.value().together);
    };
    bench.send(1, {"waits for credit"});
    bench.channel->ask_limits(2, Deadline::never(), note);
    bench.run();
    CHECK(limits.empty());
    Attach attach = bench.far().log->receiver->remote();
    attach.max_message_size = 100;
    bench.far().log->receiver->open(attach);
    bench.far().opened_by_test = true;
    bench.run();
    CHECK(limits == std::vector<std::uint64_t>{100, 100});
    bench.channel->ask_limits(3, Deadline::never(), note);
    bench.run();
    CHECK(limits == std::vector<std::uint64_t>{100, 100, 100, 100});
    bench.give_credit(1);
    CHECK(bench.far().log->messages == std::vector<std::string>{"waits for credit"});
}

TEST_CASE("sender channel: a batch has a limit of its own, as the link tells it") {
    struct Row {
        std::uint64_t of_messages;
        Value told; // null: nothing is told
        std::uint64_t of_batches;
    };
    constexpr std::uint64_t mega = std::uint64_t{1} << 20U;
    const Row rows[] = {{100 * mega, std::int64_t{mega}, mega},
                        {100 * mega, std::uint64_t{256} << 10U, mega / 4},
                        {100 * mega, std::int32_t{300}, 300},
                        {100 * mega, {}, mega}, // Azure's clients go by 1 MB then
                        {100 * mega, std::int64_t{0}, mega},
                        {100 * mega, std::string{"much"}, mega},
                        {100, {}, 100},
                        {0, {}, mega}};
    for (const Row& row : rows) {
        Bench bench{true};
        SizeLimits limits;
        bench.channel->ask_limits(1, Deadline::never(),
                                  [&](const auto& told) { limits = told.value(); });
        bench.run();
        Attach attach = bench.far().log->receiver->remote();
        attach.max_message_size = row.of_messages;
        if (!row.told.is_null()) {
            attach.properties = encode(
                Value::map({{Value::symbol("com.microsoft:max-message-batch-size"), row.told}}));
        }
        bench.far().log->receiver->open(attach);
        bench.far().opened_by_test = true;
        bench.run();
        CHECK(limits.message == row.of_messages);
        CHECK(limits.together == row.of_batches);
        const std::string part(row.of_batches / 2, 'x');
        bench.send(2, {part, part}); // with their heads more than the limit
        bench.send(3, {"small", "too"});
        bench.give_credit(10);
        CHECK(bench.told() == "2:message_too_large ");
        CHECK(bench.far().log->messages.size() == 1);
        if (row.of_messages > row.of_batches) { // one alone may be larger
            bench.send(4, {std::string(row.of_batches + 1, 'x')});
            bench.run();
            CHECK(bench.far().log->messages.size() == 2);
        }
    }
}

TEST_CASE("sender channel: a connection that cannot be made fails the send") {
    Bench bench;
    bench.is_connected = false;
    bench.send(1, {"a"});
    bench.waiting(Failure{.code = Errc::connection_refused});
    CHECK(bench.results.empty()); // by a later turn
    bench.run();
    CHECK(bench.told() == "1:connection_refused ");
}

TEST_CASE("sender channel: the destructor answers what is left, also from within a handler") {
    Bench bench;
    bench.send(1, {"a"});
    bench.send(2, {"b"});
    bench.give_credit(1);
    bench.is_connected = false;
    bench.send(3, {"c"});
    bench.channel->send(4, {"d"}, Deadline::never(), [&](const core::Result<SizeLimits>& result) {
        CHECK(result.failure().code == Errc::connection_refused);
        bench.channel.reset();
    });
    bench.channel->give_up(2);
    bench.waiting(Failure{.code = Errc::connection_refused});
    bench.run();
    CHECK(bench.told() == "2:cancelled 3:cancelled 1:cancelled? ");
}
