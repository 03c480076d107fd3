// SPDX-License-Identifier: MIT
// Promises of the public headers, checked by a program that knows nothing else.
//
//     promises CASE [connection string]
//
// Without a connection string it uses a `LocalBroker`. With one it expects empty queues "orders"
// and "replies" with sessions and a lock of two seconds.

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;
using sessionq::Deadline;
using sessionq::Message;
using sessionq::OperationContext;

namespace {

void require(bool holds, const std::string& promise) {
    if (!holds) {
        throw std::runtime_error{"broken: " + promise};
    }
}

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

struct Setup {
    explicit Setup(const char* connection) {
        if (connection == nullptr) {
            broker.create_queue("orders", {.requires_session = true, .lock_duration = 2s});
            broker.create_queue("replies", {.requires_session = true, .lock_duration = 2s});
        }
        client = std::make_unique<sessionq::Client>(connection == nullptr
                                                        ? sessionq::Client::in_process(broker)
                                                        : sessionq::Client::connect(connection));
    }

    sessionq::LocalBroker broker{};
    std::unique_ptr<sessionq::Client> client{};
};

/// Handles messages until `count` have been handled; throws what a handler threw.
void process(Setup& setup, int count, std::function<void(sessionq::MessageContext&)> handler) {
    std::atomic<int> left{count};
    std::promise<void> done;
    sessionq::SessionProcessor processor{*setup.client, "orders"};
    processor.on_message([&](sessionq::MessageContext& context) {
        try {
            handler(context);
        } catch (...) {
            if (left.exchange(0) > 0) {
                done.set_exception(std::current_exception());
            }
            return;
        }
        if (left.fetch_sub(1) == 1) {
            done.set_value();
        }
    });
    processor.start();
    auto handled = done.get_future();
    const bool in_time = handled.wait_for(30s) == std::future_status::ready;
    processor.stop(10s);
    require(in_time, "every message is handled");
    handled.get();
}

/// A handler that works for longer than its lock's first length, and then replies.
void work_then_reply(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    sender.send(Message::of("1").in_session("request"));
    process(setup, 2, [&](sessionq::MessageContext& context) {
        require(context.deadline().is_never(), "a message without a deadline has none");
        if (context.message().session_id() == "request") {
            const auto first = context.session().lock_expires();
            std::this_thread::sleep_for(3s);
            require(context.session().lock_expires() > first, "the lock is renewed");
            require(OperationContext::current().lock_expires() == context.session().lock_expires(),
                    "the context's bound follows renewals");
            sender.send(Message::of("2").in_session("reply"));
            context.session().set_state("replied");
        }
    });
}

/// An explicit deadline within a request shortens the request's deadline and never extends it.
void nested_deadlines(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    const OperationContext::Scope request{OperationContext{Deadline::after(1s, now())}};
    const OperationContext::Scope inner{OperationContext{Deadline::after(1h, now())}};
    require(OperationContext::current().deadline().remaining(now()) <= 1s, "a scope nests");
    const auto began = now();
    try {
        // No session is ready, so this waits.
        static_cast<void>(sessionq::SessionReceiver::accept_next(
            *setup.client, "orders", {},
            {.context = OperationContext{Deadline::after(1h, now())}}));
        require(false, "there is no session");
    } catch (const sessionq::Error& error) {
        require(error.code() == sessionq::Errc::timeout ||
                    error.code() == sessionq::Errc::no_session_available,
                std::string{"the call ends at the request's deadline: "} + error.what());
    }
    require(now() - began < 10s, "an explicit context does not extend the request's deadline");
    try {
        sender.send(Message::of("late").in_session("a"), {.timeout = 1h});
        require(false, "the request is over");
    } catch (const sessionq::Error& error) {
        require(error.code() == sessionq::Errc::timeout, error.what());
    }
    const OperationContext::DetachedScope detached;
    sender.send(Message::of("not part of the request").in_session("a"));
}

/// The deadline of a request goes along with what is sent within it, through any number of hops.
void deadline_travels(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    const auto deadline = Deadline::after(20s, now());
    {
        const OperationContext::Scope request{OperationContext{deadline}};
        sender.send(Message::of("x").in_session("hop1"));
    }
    process(setup, 3, [&](sessionq::MessageContext& context) {
        const auto here = context.message().deadline();
        require(here == context.deadline() && here == OperationContext::current().deadline(),
                "the handler runs under its message's deadline");
        require(here.time() > deadline.time() - 5s && here.time() <= deadline.time() + 1s,
                "the message carries what is left");
        const std::string hop{context.message().session_id()};
        if (hop != "hop3") {
            sender.send(Message::of("x").in_session("hop" + std::to_string(hop.back() - '0' + 1)));
        }
    });
}

/// A timeout bounds the call that it is given to. The message is handled whenever its turn comes.
void timeout_stays_here(Setup& setup) {
    sessionq::Sender{*setup.client, "orders"}.send(Message::of("placed").in_session("a"),
                                                   {.timeout = 200ms});
    std::this_thread::sleep_for(400ms);
    process(setup, 1, [](sessionq::MessageContext& context) {
        require(context.message().deadline().is_never(), "the message has no deadline");
    });
}

/// A free slot takes a session of any entity at once, whatever the others wait for.
void free_slot_takes_any(Setup& setup) {
    std::promise<void> busy;
    std::promise<void> handled;
    sessionq::SessionProcessor processor{
        *setup.client, {"orders", "replies"}, {.max_concurrent_sessions = 2}};
    processor.on_message([&](sessionq::MessageContext& context) {
        if (context.message().text() == "slow") {
            busy.set_value();
            std::this_thread::sleep_for(6s);
        } else {
            handled.set_value();
        }
    });
    processor.start();
    std::this_thread::sleep_for(1s); // accepts wait at both
    sessionq::Sender sender{*setup.client, "orders"};
    sender.send(Message::of("slow").in_session("a"));
    require(busy.get_future().wait_for(10s) == std::future_status::ready, "it is handled");
    sender.send(Message::of("quick").in_session("b"));
    require(handled.get_future().wait_for(2s) == std::future_status::ready,
            "a free slot and a ready session of any entity meet at once");
    require(processor.stop(20s).complete, "it stops");
}

/// Sessions that are parked leave their slots to those that wait.
void parked_sessions_keep_no_slot(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    for (int i = 0; i < 8; ++i) {
        sender.send(Message::of("bad").in_session("bad" + std::to_string(i)));
    }
    for (int i = 0; i < 20; ++i) {
        sender.send(Message::of("good").in_session("good" + std::to_string(i)));
    }
    std::atomic<int> left{20};
    std::promise<void> done;
    sessionq::SessionProcessor processor{
        *setup.client,
        "orders",
        {.max_concurrent_sessions = 8,
         .session_idle_timeout = 100ms,
         .failure_policy = sessionq::FailurePolicy::park_session(10s)}};
    processor.on_message([&](sessionq::MessageContext& context) {
        if (context.message().text() == "bad") {
            throw std::runtime_error{"bad"};
        }
        if (left.fetch_sub(1) == 1) {
            done.set_value();
        }
    });
    processor.start();
    require(done.get_future().wait_for(5s) == std::future_status::ready,
            "good sessions do not wait for parked ones");
    const auto parked = processor.describe().parked;
    require(parked.size() == 8, "the parked sessions are described");
    std::this_thread::sleep_for(3s); // longer than their locks
    require(processor.counters().locks_lost == 0, "the locks of parked sessions are renewed");
    require(processor.stop(20s).complete, "it stops");
}

/// The idle timeout can be changed while sessions are idle.
void idle_timeout_is_tuned(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    std::promise<void> first;
    std::promise<void> second;
    sessionq::SessionProcessor processor{
        *setup.client, "orders", {.max_concurrent_sessions = 1, .session_idle_timeout = 1h}};
    processor.on_message([&](sessionq::MessageContext& context) {
        (context.message().session_id() == "a" ? first : second).set_value();
    });
    processor.start();
    sender.send(Message::of("x").in_session("a"));
    require(first.get_future().wait_for(10s) == std::future_status::ready, "it is handled");
    sender.send(Message::of("x").in_session("b"));
    auto handled = second.get_future();
    require(handled.wait_for(1s) == std::future_status::timeout, "the slot holds an idle session");
    processor.update_limits({.max_concurrent_sessions = 1, .session_idle_timeout = 500ms});
    require(handled.wait_for(2s) == std::future_status::ready,
            "it rolls after the new timeout, counted from when the session became idle");
    processor.stop(10s);
}

/// A paused processor gives its sessions back, uncounted, until it resumes. After a stop it may
/// start again.
void pauses_and_restarts(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    const auto send = [&sender](const std::string& text) {
        sender.send(Message::of(text).in_session("ada"));
    };
    std::promise<void> first;
    std::promise<void> all;
    std::string handled;
    std::atomic<bool> cancelled{false};
    sessionq::SessionProcessor processor{
        *setup.client, "orders", {.session_idle_timeout = 1h, .worker_threads = 1}};
    processor.on_message([&](sessionq::MessageContext& context) {
        if (handled.empty()) {
            processor.pause();
            std::this_thread::sleep_for(3s); // longer than the lock
            cancelled = context.stop_token().stop_requested();
        }
        handled += context.message().text();
        if (handled == "1") {
            first.set_value();
        } else if (handled == "123") {
            all.set_value();
        }
    });
    for (const char* text : {"1", "2", "3"}) {
        send(text);
    }
    processor.start();
    require(first.get_future().wait_for(20s) == std::future_status::ready, "it is handled");
    {
        auto receiver =
            sessionq::SessionReceiver::accept_next(*setup.client, "orders", {}, {.timeout = 20s});
        const auto message = receiver.receive_one(10s);
        require(message.has_value() && message->text() == "2", "the first was completed");
        require(message->message().delivery_count() == 0, "what did not start does not count");
        receiver.close();
    }
    require(handled == "1" && !cancelled, "one handler ran, and was not told to stop");
    processor.resume();
    require(all.get_future().wait_for(20s) == std::future_status::ready, "in order after it");
    require(processor.stop(10s).complete, "it stops");

    handled = "12";
    all = {};
    send("3");
    processor.start();
    require(all.get_future().wait_for(20s) == std::future_status::ready, "it starts again");
    require(processor.counters().messages_handled <= 1, "the totals are those of the last start");
    require(processor.stop(10s).complete, "it stops again");
}

/// A browser is told of new messages, and disturbs no one.
void browser_follows(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    sessionq::Browser browser{*setup.client, "orders"};
    require(!browser.next(100ms).has_value(), "an empty queue has no next message");
    auto next = std::async(std::launch::async, [&] { return browser.next(20s); });
    std::this_thread::sleep_for(1s);
    sender.send(Message::of("1").in_session("a"));
    const auto sent = now();
    const auto message = next.get();
    require(message.has_value() && message->text() == "1", "it sees what is sent");
    require(now() - sent < 2s, "soon");
    process(setup, 1, [&](sessionq::MessageContext& context) {
        require(context.message().delivery_count() == 0, "it took nothing");
    });
}

/// A trace goes along with what is sent within it, through any number of hops.
void trace_travels(Setup& setup) {
    const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    sessionq::Sender sender{*setup.client, "orders"};
    sender.send(Message::of("x").in_session("hop1"),
                {.context = OperationContext{}.with_trace(*sessionq::TraceContext::parse(parent))});
    process(setup, 2, [&](sessionq::MessageContext& context) {
        const auto* trace = OperationContext::current().trace();
        require(trace != nullptr && trace->traceparent == parent, "handlers run under the trace");
        if (context.message().session_id() == "hop1") {
            sender.send(Message::of("x").in_session("hop2"));
        }
    });
}

/// `stop` ends coroutines that wait for something else than a call of the library.
void stop_cancels_coroutines(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    std::atomic<int> waiting{3};
    std::promise<void> all_wait;
    sessionq::SessionProcessor processor{*setup.client, "orders", {.max_concurrent_sessions = 3}};
    processor.on_message(
        sessionq::coroutine([&](sessionq::MessageContext&) -> asio::awaitable<void> {
            asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
            if (waiting.fetch_sub(1) == 1) {
                all_wait.set_value();
            }
            co_await timer.async_wait(asio::use_awaitable);
        }));
    for (int i = 0; i < 3; ++i) {
        sender.send(Message::of("x").in_session("s" + std::to_string(i)));
    }
    processor.start();
    require(all_wait.get_future().wait_for(10s) == std::future_status::ready, "they are handled");
    const auto began = now();
    const auto report = processor.stop(3s);
    require(now() - began < 3s, "it stops before its deadline");
    require(report.complete && report.left == 0, "nothing is left");
    require(report.cancelled == 3, "the report says what was cancelled");
    auto again = sessionq::SessionReceiver::accept(*setup.client, "orders", "s0");
    require(again.receive_one(5s).has_value(), "what was cancelled is delivered again");
}

/// What the library starts for itself does not inherit the deadline of who started it.
void started_in_a_request(Setup& setup) {
    sessionq::Sender sender{*setup.client, "orders"};
    std::promise<void> first;
    std::promise<void> error;
    std::promise<bool> clean;
    std::atomic<bool> told{false};
    sessionq::SessionProcessor processor{*setup.client, "orders"};
    processor.on_message([&](sessionq::MessageContext& context) {
        if (!OperationContext::current().deadline().is_never()) {
            first.set_exception(std::make_exception_ptr(std::runtime_error{"inherited"}));
        } else if (context.message().text() == "1") {
            first.set_value();
        } else {
            throw std::runtime_error{"for on_error"};
        }
    });
    processor.on_error([&](const sessionq::ErrorContext&) {
        if (!told.exchange(true)) {
            clean.set_value(OperationContext::current().is_clean());
        }
    });
    {
        const OperationContext::Scope request{OperationContext{Deadline::after(100ms, now())}};
        processor.start();
        processor.update_limits({.max_concurrent_sessions = 4});
    }
    std::this_thread::sleep_for(200ms);
    sender.send(Message::of("1").in_session("a"));
    auto handled = first.get_future();
    require(handled.wait_for(20s) == std::future_status::ready, "it is handled");
    handled.get();
    sender.send(Message::of("2").in_session("a"));
    auto was_clean = clean.get_future();
    require(was_clean.wait_for(20s) == std::future_status::ready, "on_error is called");
    require(was_clean.get(), "on_error runs under a clean context");
    processor.stop(10s);
}

} // namespace

int main(int count, char** arguments) {
    const std::map<std::string, void (*)(Setup&)> cases{
        {"work_then_reply", work_then_reply},
        {"nested_deadlines", nested_deadlines},
        {"deadline_travels", deadline_travels},
        {"timeout_stays_here", timeout_stays_here},
        {"started_in_a_request", started_in_a_request},
        {"free_slot_takes_any", free_slot_takes_any},
        {"parked_sessions_keep_no_slot", parked_sessions_keep_no_slot},
        {"idle_timeout_is_tuned", idle_timeout_is_tuned},
        {"browser_follows", browser_follows},
        {"trace_travels", trace_travels},
        {"stop_cancels_coroutines", stop_cancels_coroutines},
        {"pauses_and_restarts", pauses_and_restarts},
    };
    const auto chosen = count > 1 ? cases.find(arguments[1]) : cases.end();
    if (chosen == cases.end()) {
        std::cerr << "usage: promises CASE [connection string]\n";
        return 2;
    }
    try {
        Setup setup{count > 2 ? arguments[2] : nullptr};
        chosen->second(setup);
    } catch (const std::exception& error) {
        std::cerr << chosen->first << ": " << error.what() << '\n';
        return 1;
    }
    std::cout << chosen->first << ": kept\n";
    return 0;
}
