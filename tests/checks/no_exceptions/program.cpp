// SPDX-License-Identifier: MIT
// A program without exceptions and without run-time type information: it sends, receives, meets
// failures and runs processors whose handlers fail. It shows that all public headers but
// <sessionq/async.hpp> compile in this way. It returns 0 if each check holds.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <latch>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sessionq/sessionq.hpp>
#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/fake_session.hpp>
#include <sessionq/testing/recording_tracer.hpp>
#include <sessionq/testing/settlement.hpp>

#ifdef __cpp_exceptions
#error "build this program with -fno-exceptions"
#endif
#ifdef __cpp_rtti
#error "build this program with -fno-rtti"
#endif

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s; // never waited for in full unless something hangs

std::atomic<int> failures{0};

void check(bool holds, const char* what, int line) {
    if (!holds) {
        std::fprintf(stderr, "line %d: %s does not hold\n", line, what);
        ++failures;
    }
}

#define CHECK(condition) check(condition, #condition, __LINE__)

template <typename T>
bool failed_with(const Result<T>& result, Errc code) {
    if (!result && result.error().code != code) {
        std::fprintf(stderr, "the failure is '%s'\n", result.error().to_string().c_str());
    }
    return !result && result.error().code == code;
}

/// Waits until `latch` has been counted down. False: it took too long.
bool wait_for(const std::latch& latch) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!latch.try_wait()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

void connect_to_nothing() {
    CHECK(failed_with(Client::try_connect(nullptr), Errc::invalid_argument));
    CHECK(failed_with(Client::try_connect("Endpoint=sb://x;Foo=1"), Errc::invalid_argument));
    CHECK(failed_with(Client::try_connect("", NamedKeyCredential{"name", "key"}),
                      Errc::invalid_argument));
    CHECK(failed_with(NamedKeyCredential::try_make("", ""), Errc::invalid_argument));
    CHECK(failed_with(HttpProxy::try_parse("https://proxy"), Errc::invalid_argument));
}

void send_and_receive(const Client& client) {
    auto made = Sender::try_make(client, "orders");
    CHECK(made.has_value());
    const Sender sender = *std::move(made);
    CHECK(sender.try_send(Message::of("1").in_session("ada")).has_value());
    CHECK(failed_with(sender.try_send(Message::of("no session")), Errc::session_required));
    CHECK(failed_with(sender.try_send(Message::of("late").in_session("ada"), {.timeout = 0s}),
                      Errc::timeout));
    const std::vector two{Message::of("2").in_session("ada"), Message::of("3").in_session("ada")};
    CHECK(sender.try_send_all(two).has_value());
    CHECK(sender.try_send_all(std::vector<Message>{}).has_value());
    auto batch = sender.try_create_batch();
    CHECK(batch && batch->try_add(Message::of("4").in_session("ada")));
    MessageBatch small{1};
    CHECK(failed_with(small.try_add(Message::of("5").in_session("ada")), Errc::message_too_large));
    CHECK(batch && sender.try_send(*batch).has_value());
    const auto number =
        sender.try_schedule(Message::of("later").in_session("ada"),
                            std::chrono::system_clock::now() + std::chrono::hours{1});
    CHECK(number && sender.try_cancel_scheduled({*number}).has_value());
    CHECK(failed_with(sender.try_cancel_scheduled({987'654}), Errc::message_not_found));

    const auto nowhere = Sender::try_make(client, "nowhere");
    CHECK(nowhere.has_value()); // the first operation shows it
    CHECK(failed_with(nowhere->try_send(Message::of("x").in_session("a")), Errc::entity_not_found));
    CHECK(failed_with(Sender::try_make(client, ""), Errc::invalid_argument));

    auto receiver = SessionReceiver::try_accept(client, "orders", "ada");
    CHECK(receiver.has_value());
    CHECK(failed_with(SessionReceiver::try_accept(client, "orders", "ada"),
                      Errc::session_locked_elsewhere));
    const auto none = SessionReceiver::try_accept_next(client, "orders", 0s);
    CHECK(none && !none->has_value());
    auto messages = receiver->try_receive(2, patience);
    CHECK(messages && !messages->empty());
    for (LockedMessage& message : *messages) {
        CHECK(message.try_complete().has_value());
        CHECK(failed_with(message.try_complete(), Errc::already_settled));
    }
    CHECK(failed_with(receiver->try_receive(0), Errc::invalid_argument));
    CHECK(receiver->try_set_state("seen").has_value());
    const auto state = receiver->try_state();
    CHECK(state && *state == "seen");
    CHECK(receiver->try_renew_lock().has_value());
    auto next = receiver->try_receive_one(patience);
    CHECK(next && next->has_value() && (**next).try_dead_letter("Bad").has_value());
    CHECK(failed_with(receiver->try_receive_deferred({987'654}), Errc::message_not_found));
    CHECK(receiver->try_close().has_value());
    CHECK(failed_with(receiver->try_state(), Errc::cancelled));

    auto dead = Receiver::try_open(client, "orders", {.sub_queue = SubQueue::dead_letter});
    CHECK(dead.has_value());
    const auto letter = dead->try_receive_one(patience);
    CHECK(letter && letter->has_value());
    CHECK(dead->try_close().has_value());
    CHECK(failed_with(Receiver::try_open(client, "orders"), Errc::session_required));

    auto browser = Browser::try_make(client, "orders");
    CHECK(browser && browser->try_peek(10).has_value());
    CHECK(failed_with(browser->try_peek(0), Errc::invalid_argument));
    const auto sessions = try_list_sessions(client, "orders");
    CHECK(sessions && sessions->size() == 1);
    CHECK(failed_with(try_list_sessions(client, "nowhere"), Errc::entity_not_found));

    const auto redriven = try_redrive(client, "orders");
    CHECK(redriven && redriven->sent == 1);
    CHECK(failed_with(try_redrive(client, ""), Errc::invalid_argument));
    CHECK(try_purge(client, "orders").has_value());
    CHECK(failed_with(try_purge(client, "nowhere"), Errc::entity_not_found));
}

void change_rules(LocalBroker& broker, const Client& client) {
    CHECK(broker.try_create_topic("events").has_value());
    CHECK(failed_with(broker.try_create_topic("events"), Errc::duplicate_entity));
    CHECK(broker.try_create_subscription("events", "all").has_value());
    const auto rules = RuleManager::try_make(client, "events/subscriptions/all");
    CHECK(rules && rules->try_add({.name = "large", .filter = SqlFilter{"amount > 9"}}));
    CHECK(failed_with(rules->try_add({.name = "large"}), Errc::duplicate_entity));
    CHECK(failed_with(rules->try_remove("unknown"), Errc::entity_not_found));
    const auto all = rules->try_list();
    CHECK(all && all->size() == 2);
    CHECK(failed_with(broker.try_counts("nowhere"), Errc::entity_not_found));
}

/// The handler fails by value, and the policy is chosen by the value.
void process_sessions(LocalBroker& broker, const Client& client) {
    CHECK(broker.try_create_queue("work").has_value());
    CHECK(failed_with(SessionProcessor::try_make(client, "work", {.max_concurrent_sessions = 0}),
                      Errc::invalid_option));
    auto made = SessionProcessor::try_make(client, "work");
    CHECK(made.has_value());
    SessionProcessor processor = *std::move(made);
    CHECK(failed_with(processor.try_start(), Errc::invalid_state)); // it has no handler

    std::latch done{3};
    std::mutex mutex;
    std::vector<std::string> failed; // guarded by `mutex`
    std::string told;                // guarded by `mutex`
    processor.on_message([&](MessageContext& context) {
        const std::string text{context.message().text()};
        auto session = context.session();
        if (text == "good") {
            if (auto saved = session.try_set_state("good"); !saved) {
                context.fail(std::move(saved).error());
            }
            done.count_down();
        } else if (text == "bad") {
            context.fail({.code = Errc::invalid_argument, .detail = "the order is bad"});
        } else if (context.attempt() == 1) {
            context.fail({.code = Errc::server_busy, .detail = "try again"});
        } else {
            CHECK(context.try_complete().has_value());
            CHECK(failed_with(context.try_complete(), Errc::already_settled));
            done.count_down();
        }
    });
    processor.on_failure([&](const FailureContext& failure) {
        const std::lock_guard lock{mutex};
        failed.push_back(failure.failure.detail);
        return failure.failure.retryable()
                   ? FailurePolicy::dead_letter().after_attempts(2, {.min = 1ms, .max = 1ms})
                   : FailurePolicy::dead_letter();
    });
    processor.on_error([&](const ErrorContext& error) {
        const std::lock_guard lock{mutex};
        if (error.fate == MessageFate::dead_lettered) {
            told = error.failure.detail;
            done.count_down();
        }
    });
    CHECK(processor.try_start().has_value());
    CHECK(failed_with(processor.try_start(), Errc::invalid_state));
    CHECK(failed_with(processor.try_update_limits({.max_concurrent_sessions = 0}),
                      Errc::invalid_option));
    CHECK(processor.try_update_limits({.max_concurrent_sessions = 4}).has_value());
    CHECK(processor.try_pause().has_value());
    CHECK(processor.try_resume().has_value());

    const auto sender = Sender::try_make(client, "work");
    for (const char* text : {"good", "bad", "again"}) {
        CHECK(sender->try_send(Message::of(text).in_session("ada")).has_value());
    }
    CHECK(wait_for(done));
    CHECK(processor.stop(patience).complete);
    CHECK(failed_with(processor.try_pause(), Errc::invalid_state));
    const std::lock_guard lock{mutex};
    CHECK((failed == std::vector<std::string>{"the order is bad", "try again"}));
    CHECK(told.find("the order is bad") != std::string::npos);
    const auto counts = broker.try_counts("work");
    CHECK(counts && counts->active == 0 && counts->dead_lettered == 1);
    auto letters = Receiver::try_open(client, "work", {.sub_queue = SubQueue::dead_letter});
    const auto letter = letters->try_receive_one(patience);
    CHECK(letter && letter->has_value() && (**letter).text() == "bad");
    CHECK(letter &&
          (**letter).message().facts().dead_letter->description.find("bad") != std::string::npos);
}

void process_batches(LocalBroker& broker, const Client& client) {
    CHECK(broker.try_create_queue("batches").has_value());
    const auto sender = Sender::try_make(client, "batches");
    for (const char* text : {"1", "2", "3"}) {
        CHECK(sender->try_send(Message::of(text).in_session("ada")).has_value());
    }
    auto made = SessionProcessor::try_make(client, "batches",
                                           {.failure_policy = FailurePolicy::dead_letter()});
    SessionProcessor processor = *std::move(made);
    CHECK(failed_with(
        processor.try_on_messages([](std::span<MessageContext>) {}, {.max_messages = 0}),
        Errc::invalid_option));
    std::latch done{3};
    processor.on_error([&](const ErrorContext&) { done.count_down(); });
    CHECK(processor
              .try_on_messages([&](std::span<MessageContext> batch) {
                  for (MessageContext& each : batch) {
                      if (each.message().text() == "2") {
                          each.fail({.code = Errc::handler_failed, .detail = "two"});
                          return;
                      }
                      CHECK(each.try_complete().has_value());
                      done.count_down();
                  }
              })
              .has_value());
    CHECK(processor.try_start().has_value());
    CHECK(wait_for(done));
    CHECK(processor.stop(patience).complete);
    const auto counts = broker.try_counts("batches");
    CHECK(counts && counts->active == 0 && counts->dead_lettered == 1);
}

void process_without_sessions(LocalBroker& broker, const Client& client) {
    CHECK(broker.try_create_queue("plain", {.requires_session = false}).has_value());
    const auto sender = Sender::try_make(client, "plain");
    CHECK(sender->try_send(Message::of("1")).has_value());
    CHECK(failed_with(Processor::try_make(client, "plain", {.max_concurrent_calls = 0}),
                      Errc::invalid_option));
    auto processor =
        Processor::try_make(client, "plain", {.failure_policy = FailurePolicy::dead_letter()});
    CHECK(processor.has_value());
    std::latch done{1};
    processor->on_message([](MessageContext& context) {
        context.fail({.code = Errc::handler_failed, .detail = "no"});
    });
    processor->on_error([&](const ErrorContext&) { done.count_down(); });
    CHECK(processor->try_start().has_value());
    CHECK(wait_for(done));
    CHECK(processor->stop(patience).complete);
    const auto counts = broker.try_counts("plain");
    CHECK(counts && counts->dead_lettered == 1);
}

void test_a_handler() {
    testing::FakeSession session{{.session_id = "ada"}};
    session.fail_requests(Errc::lock_lost);
    testing::FakeMessage message{session, Message::of("1").in_session("ada")};
    message.run([](MessageContext& context) {
        if (auto state = context.session().try_state(); !state) {
            context.fail(std::move(state).error());
        }
    });
    CHECK(message.failure() && message.failure()->code == Errc::lock_lost);
}

} // namespace

int main() {
    connect_to_nothing();
    auto broker = LocalBroker::try_make();
    CHECK(broker.has_value());
    CHECK(broker->try_create_queue("orders").has_value());
    CHECK(failed_with(broker->try_create_queue("orders"), Errc::duplicate_entity));
    CHECK(
        failed_with(Client::try_in_process(*broker, {.receive_threads = 0}), Errc::invalid_option));
    {
        const auto client = Client::try_in_process(*broker);
        CHECK(client.has_value());
        send_and_receive(*client);
        change_rules(*broker, *client);
        process_sessions(*broker, *client);
        process_batches(*broker, *client);
        process_without_sessions(*broker, *client);
    }
    test_a_handler();
    return failures == 0 ? 0 : 1;
}
