// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/detail/calls.hpp>
#include <sessionq/sessionq.hpp>
#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/fake_session.hpp>

// Mistakes of applications fail at once, with words that name the mend. Those that do not compile
// are in tests/checks/refusals.py.

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

constexpr auto mistakes_patience = 30s; // never waited for in full unless something hangs

struct MistakesSetup {
    MistakesSetup() {
        broker.create_queue("orders");
        broker.create_queue("plain", {.requires_session = false});
    }
    void send(const std::string& text = "placed") {
        Sender{client, "orders"}.send(Message::of(text).in_session("ada"));
    }

    LocalBroker broker{};
    Client client{Client::in_process(broker)};
};

/// The failure of a call, as "code: detail". Empty if it succeeds.
std::string words_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return std::string{to_string(error.failure().code)} + ": " + error.failure().detail;
    }
    return {};
}

/// Whether the words of the mistake have the code and name the mend.
bool says(const std::string& words, Errc code, std::string_view mend) {
    const bool found =
        words.starts_with(std::string{to_string(code)} + ": ") && words.find(mend) != words.npos;
    if (!found) {
        MESSAGE("it says: ", words);
    }
    return found;
}

/// Waits for the words of one error.
class FirstError {
public:
    void tell(const ErrorContext& error) {
        const std::lock_guard lock{mutex_};
        if (!std::exchange(told_, true)) {
            words_.set_value(std::string{to_string(error.failure.code)} + ": " +
                             error.failure.detail);
        }
    }
    [[nodiscard]] std::string words() {
        auto words = words_.get_future();
        return words.wait_for(mistakes_patience) == std::future_status::ready ? words.get() : "";
    }

private:
    std::mutex mutex_{};
    bool told_{false};
    std::promise<std::string> words_{};
};

} // namespace

TEST_CASE("mistakes: a message without a session id goes to a queue of sessions") {
    MistakesSetup t;
    CHECK(says(words_of([&] {
                   Sender{t.client, "orders"}.send(Message::of("x"));
               }),
               Errc::session_required, "set a session id"));
}

TEST_CASE("mistakes: a receiver of sessions on a queue without, and the reverse") {
    MistakesSetup t;
    CHECK(says(
        words_of([&] { static_cast<void>(SessionReceiver::accept(t.client, "plain", "ada")); }),
        Errc::session_required, "'plain' has no sessions; use a Receiver"));
    CHECK(
        says(words_of([&] { static_cast<void>(SessionReceiver::accept_next(t.client, "plain")); }),
             Errc::session_required, "'plain' has no sessions; use a Receiver"));
    CHECK(says(words_of([&] { static_cast<void>(Receiver::open(t.client, "orders")); }),
               Errc::session_required, "'orders' requires sessions; use a SessionReceiver"));
}

TEST_CASE("mistakes: a processor of sessions on a queue without, and the reverse") {
    MistakesSetup t;
    FirstError of_sessions;
    SessionProcessor sessions{t.client, "plain"};
    sessions.on_message([](MessageContext&) {});
    sessions.on_error([&](const ErrorContext& error) { of_sessions.tell(error); });
    sessions.start();
    CHECK(says(of_sessions.words(), Errc::session_required, "'plain' has no sessions; use a"));
    CHECK(sessions.stop(mistakes_patience).complete);

    FirstError of_messages;
    Processor messages{t.client, "orders"};
    messages.on_message([](MessageContext&) {});
    messages.on_error([&](const ErrorContext& error) { of_messages.tell(error); });
    messages.start();
    CHECK(says(of_messages.words(), Errc::session_required, "'orders' requires sessions; use a"));
    CHECK(messages.stop(mistakes_patience).complete);
}

TEST_CASE("mistakes: an entity without a name, or with a wrong one") {
    MistakesSetup t;
    const auto named = [&](const std::string& entity) {
        return words_of([&] { static_cast<void>(Sender{t.client, entity}.entity()); });
    };
    CHECK(says(named(""), Errc::invalid_argument, "entity is empty; name a queue"));
    CHECK(says(words_of([&] { static_cast<void>(SessionReceiver::accept(t.client, "", "ada")); }),
               Errc::invalid_argument, "entity is empty; name a queue"));
    CHECK(says(words_of([&] {
                   const SessionProcessor none{t.client, ""};
               }),
               Errc::invalid_argument, "a name is empty; name a queue"));
    CHECK(says(words_of([&] {
                   Sender{t.client, "orderz"}.send(Message::of("x"));
               }),
               Errc::entity_not_found, "orderz"));
}

TEST_CASE("mistakes: connection strings with a key too few, or with one that is not known") {
    const auto connect = [](std::string_view text) {
        return words_of([&] { static_cast<void>(Client::connect(std::string{text})); });
    };
    CHECK(says(connect("SharedAccessKeyName=name;SharedAccessKey=key"), Errc::invalid_argument,
               "Endpoint is missing"));
    CHECK(says(connect("Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=name"),
               Errc::invalid_argument, "SharedAccessKeyName needs SharedAccessKey"));
    CHECK(says(connect("Endpoint=sb://127.0.0.1:1;SharedAcessKey=key"), Errc::invalid_argument,
               "unknown key 'SharedAcessKey'"));
}

TEST_CASE("mistakes: a processor without a handler, or with one that is set too late") {
    MistakesSetup t;
    SessionProcessor orders{t.client, "orders"};
    CHECK(
        says(words_of([&] { orders.start(); }), Errc::invalid_state, "set a handler before start"));
    orders.on_message([](MessageContext&) {});
    orders.start();
    CHECK(says(words_of([&] { orders.on_message([](MessageContext&) {}); }), Errc::invalid_state,
               "stop the processor first"));
    CHECK(says(words_of([&] { orders.start(); }), Errc::invalid_state, "call stop first"));
    CHECK(orders.stop(mistakes_patience).complete);
}

TEST_CASE("mistakes: the later of two handlers replaces the earlier one") {
    MistakesSetup t;
    t.send();
    std::promise<std::size_t> handled;
    SessionProcessor orders{t.client, "orders"};
    orders.on_message([](MessageContext&) { throw std::runtime_error{"the first handler"}; });
    orders.on_messages([&](std::span<MessageContext> batch) { handled.set_value(batch.size()); });
    orders.start();
    auto count = handled.get_future();
    REQUIRE(count.wait_for(mistakes_patience) == std::future_status::ready);
    CHECK(count.get() == 1);
    CHECK(orders.stop(mistakes_patience).complete);
}

TEST_CASE("mistakes: a processor that was not started") {
    MistakesSetup t;
    SessionProcessor orders{t.client, "orders"};
    CHECK(says(words_of([&] { orders.update_limits({.prefetch = 1}); }), Errc::invalid_state,
               "call start first"));
    CHECK(says(words_of([&] { orders.pause(); }), Errc::invalid_state, "call start first"));
    CHECK(says(words_of([&] { orders.resume(); }), Errc::invalid_state, "call start first"));
    CHECK(says(words_of([&] { orders.wait(); }), Errc::invalid_state, "call start first"));
    CHECK(orders.stop().complete); // there is nothing to stop
}

TEST_CASE("mistakes: a handler stops its processor and waits for that, and a second stop") {
    MistakesSetup t;
    t.send();
    std::promise<std::pair<bool, std::string>> handled;
    SessionProcessor orders{t.client, "orders"};
    orders.on_message([&](MessageContext&) {
        const bool only_requested = orders.stop(mistakes_patience).requested_only;
        handled.set_value({only_requested, words_of([&] { orders.wait(); })});
    });
    orders.start();
    auto told = handled.get_future();
    REQUIRE(told.wait_for(mistakes_patience) == std::future_status::ready);
    const auto [only_requested, words] = told.get();
    CHECK(only_requested);
    CHECK(says(words, Errc::invalid_state, "the stop waits for this callback"));
    const StopReport first = orders.stop(mistakes_patience);
    CHECK(first.complete);
    CHECK_FALSE(first.requested_only);
    CHECK(orders.stop(mistakes_patience).complete);
}

TEST_CASE("mistakes: a blocking call where nothing may wait") {
    MistakesSetup t;
    struct Blocking final : detail::AnswerHandler {
        Blocking(const Client& of, std::promise<std::string>& told) : client{of}, words{told} {}
        void answered(detail::AnyAnswerPtr /*answer*/) override {
            words.set_value(words_of([&] {
                Sender{client, "orders"}.send(Message::of("x").in_session("ada"));
            }));
        }
        const Client& client;
        std::promise<std::string>& words;
    };
    std::promise<std::string> words;
    auto told = words.get_future();
    const Sender sender{t.client, "orders"};
    const auto call = detail::prepare_send(sender, Message::of("x").in_session("ada"), {});
    static_cast<void>(call->answer_to(std::make_unique<Blocking>(t.client, words)));
    call->start();
    REQUIRE(told.wait_for(mistakes_patience) == std::future_status::ready);
    CHECK(says(told.get(), Errc::invalid_state, "use an async_ function or another thread"));
}

TEST_CASE("mistakes: objects that were moved from, and an empty message") {
    MistakesSetup t;
    const Client other = std::move(t.client);
    CHECK(says(words_of([&] { static_cast<void>(t.client.metrics()); }), Errc::invalid_state,
               "use the one that it was moved to"));
    const ReceivedMessage message;
    CHECK(says(words_of([&] { static_cast<void>(message.text()); }), Errc::invalid_state,
               "the message is empty: made by default, or moved from"));
}

TEST_CASE("mistakes: negative durations") {
    MistakesSetup t;
    SessionReceiver ada = SessionReceiver::accept(t.client, "orders", "ada");
    CHECK(says(words_of([&] { static_cast<void>(ada.receive(1, -1s)); }), Errc::invalid_argument,
               "wait must not be negative (Duration::max() is without end)"));
    CHECK(says(words_of([&] {
                   static_cast<void>(Browser{t.client, "orders"}.next(-1s));
               }),
               Errc::invalid_argument, "Duration::max() is without end"));
    // The library gets a negative length: the conversion has overflowed.
    const auto overflowed = Duration{std::chrono::hours{-1}};
    CHECK(says(words_of([&] {
                   static_cast<void>(SessionReceiver::accept(t.client, "orders", "bob",
                                                             {.max_lock_renewal = overflowed}));
               }),
               Errc::invalid_option,
               "SessionReceiverOptions::max_lock_renewal must not be negative (Duration::max() is "
               "without end; a longer duration overflows)"));
    CHECK(says(words_of([&] {
                   const SessionProcessor orders{t.client, "orders", {.max_hold = overflowed}};
               }),
               Errc::invalid_option,
               "max_hold: must not be negative (Duration::max() is without end; a longer duration "
               "overflows)"));
    CHECK(says(
        words_of([&] { static_cast<void>(redrive(t.client, "orders", {.max_wait = overflowed})); }),
        Errc::invalid_option, "a longer duration overflows"));
}

TEST_CASE("mistakes: durations that are too long are without end") {
    MistakesSetup t;
    t.send();
    SessionReceiver ada = SessionReceiver::accept(t.client, "orders", "ada", {},
                                                  {.timeout = std::chrono::hours::max()});
    auto message = ada.receive_one(std::chrono::hours::max());
    REQUIRE(message);
    message->complete({.timeout = std::chrono::seconds::max()});
    ada.close({.timeout = std::chrono::years{100'000}});
    CHECK(t.broker.counts("orders").active == 0);

    SessionProcessor orders{t.client,
                            "orders",
                            {.session_idle_timeout = std::chrono::hours::max(),
                             .max_hold = Duration::max(),
                             .max_lock_renewal = Duration::max()}};
    std::promise<void> handled;
    orders.on_message([&](MessageContext&) { handled.set_value(); });
    orders.start();
    t.send();
    REQUIRE(handled.get_future().wait_for(mistakes_patience) == std::future_status::ready);
    CHECK(orders.stop(std::chrono::hours::max()).complete);
}

TEST_CASE("mistakes: zero where one is needed, and too much") {
    MistakesSetup t;
    SessionReceiver ada = SessionReceiver::accept(t.client, "orders", "ada");
    CHECK(says(words_of([&] { static_cast<void>(ada.receive(0)); }), Errc::invalid_argument,
               "max_messages must be 1 to 10,000"));
    CHECK(
        says(words_of([&] {
                 const SessionProcessor orders{t.client, "orders", {.max_concurrent_sessions = 0}};
             }),
             Errc::invalid_option, "max_concurrent_sessions: 0 is not within 1 to"));
    CHECK(says(words_of([&] {
                   const Processor plain{t.client, "plain", {.max_concurrent_calls = 0}};
               }),
               Errc::invalid_option, "max_concurrent_calls must be 1 to 10,000"));
    CHECK(says(
        words_of([&] { static_cast<void>(Client::in_process(t.broker, {.receive_threads = 0})); }),
        Errc::invalid_option, "ClientOptions::receive_threads must be 1 to 64"));
    CHECK(says(words_of([&] {
                   const SessionProcessor orders{t.client, "orders", {.accept_wait = 2h}};
               }),
               Errc::invalid_option, "accept_wait: is not within 1 ms to 1 h"));
}

TEST_CASE("mistakes: a message is settled twice") {
    MistakesSetup t;
    t.send();
    SessionReceiver ada = SessionReceiver::accept(t.client, "orders", "ada");
    auto message = ada.receive_one(mistakes_patience);
    REQUIRE(message);
    message->complete();
    CHECK(says(words_of([&] { message->complete(); }), Errc::already_settled,
               "settle it once, settled() tells whether it is"));
}

TEST_CASE("mistakes: a message is settled after its receiver was closed") {
    MistakesSetup t;
    t.send();
    SessionReceiver ada = SessionReceiver::accept(t.client, "orders", "ada");
    auto message = ada.receive_one(mistakes_patience);
    REQUIRE(message);
    ada.close();
    CHECK(says(words_of([&] { message->complete(); }), Errc::lock_lost, "is closed"));
    CHECK(says(words_of([&] { static_cast<void>(ada.receive(1)); }), Errc::cancelled, "is closed"));
}

TEST_CASE("mistakes: a message is too large") {
    MistakesSetup t;
    t.broker.create_queue("small", {.max_message_bytes = 1024});
    CHECK(says(
        words_of([&] {
            Sender{t.client, "small"}.send(Message::of(std::string(2000, 'x')).in_session("ada"));
        }),
        Errc::message_too_large, "bytes at once exceed the limit of 1024"));
}

TEST_CASE("mistakes: a broker is destroyed before its clients") {
    std::optional<LocalBroker> broker{std::in_place};
    broker->create_queue("orders");
    const Client client = Client::in_process(*broker);
    broker.reset(); // its entities live as long as the client
    Sender{client, "orders"}.send(Message::of("placed").in_session("ada"));
    SessionReceiver ada = SessionReceiver::accept(client, "orders", "ada");
    auto message = ada.receive_one(mistakes_patience);
    REQUIRE(message);
    message->complete();
}

TEST_CASE("mistakes: a Completion is dropped") {
    MistakesSetup t;
    t.send();
    FirstError dropped;
    SessionProcessor orders{t.client, "orders", {.failure_policy = FailurePolicy::dead_letter()}};
    orders.on_message(
        MessageHandler::started_by([](MessageContext&, Completion /*completion*/) {}));
    orders.on_error([&](const ErrorContext& error) { dropped.tell(error); });
    orders.start();
    CHECK(
        says(dropped.words(), Errc::handler_failed, "its Completion was destroyed and never used"));
    CHECK(orders.stop(mistakes_patience).complete);
}

TEST_CASE("mistakes: a test has a message of another session") {
    testing::FakeSession ada{{.session_id = "ada"}};
    CHECK(says(words_of([&] {
                   const testing::FakeMessage message{ada, Message::of("x").in_session("bob")};
               }),
               Errc::invalid_argument,
               "the message is of session 'bob', and the session is 'ada'"));
}
