// SPDX-License-Identifier: MIT
#include "processor/options_check.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include <sessionq/error.hpp>

#include "support/executors.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using ports::Capabilities;
using ports::Capability;

namespace {

/// The words of the refusal; empty when there is none.
template <typename Check>
std::string refusal(Check check, Errc code = Errc::invalid_option) {
    try {
        check();
        return {};
    } catch (const Error& error) {
        CHECK(error.code() == code);
        return error.failure().detail;
    }
}

struct Case {
    const char* member;
    std::function<void(SessionProcessorOptions&)> change;
};

} // namespace

TEST_CASE("options check: the defaults and the ends of every range are taken") {
    const Case cases[] = {
        {"defaults", [](auto&) {}},
        {"sessions", [](auto& o) { o.max_concurrent_sessions = 1; }},
        {"sessions", [](auto& o) { o.max_concurrent_sessions = 100'000; }},
        {"calls per session", [](auto& o) { o.max_concurrent_calls_per_session = 10'000; }},
        {"idle zero", [](auto& o) { o.session_idle_timeout = Duration::zero(); }},
        {"idle never", [](auto& o) { o.session_idle_timeout = Duration::max(); }},
        {"prefetch", [](auto& o) { o.prefetch = 10'000; }},
        {"describe_socket", [](auto& o) { o.describe_socket = std::string(107, 's'); }},
        {"bytes", [](auto& o) { o.max_buffered_bytes = 65'536; }},
        {"workers", [](auto& o) { o.worker_threads = 1024; }},
        {"executor", [](auto& o) { o.executor = std::make_shared<test::KeepingExecutor>(); }},
        {"accept", [](auto& o) { o.accept_wait = 1ms; }},
        {"accept", [](auto& o) { o.accept_wait = 1h; }},
        {"attempts", [](auto& o) { o.failure_policy.max_attempts = 1000; }},
        {"equal backoff", [](auto& o) { o.error_backoff = {.min = 1s, .max = 1s}; }},
        {"park zero",
         [](auto& o) { o.failure_policy = FailurePolicy::park_session(Duration::zero()); }},
        {"confirmed", [](auto& o) { o.confirm_settlements = true; }},
        {"removed", [](auto& o) { o.receive_and_delete = true; }},
        {"removed with retries",
         [](auto& o) {
             o.receive_and_delete = true;
             o.failure_policy = FailurePolicy::abandon().after_attempts(3);
         }},
        {"ids",
         [](auto& o) {
             o.session_ids = {"", "a", std::string(128, 'x')};
         }},
        {"negative priority", [](auto& o) { o.priority = -5; }},
    };
    for (const Case& each : cases) {
        CAPTURE(each.member);
        SessionProcessorOptions options;
        each.change(options);
        CHECK(refusal([&] { detail::processor::check_options(options); }).empty());
    }
}

TEST_CASE("options check: a negative duration may be a long one that overflowed") {
    const Case cases[] = {
        {"session_idle_timeout", [](auto& o) { o.session_idle_timeout = -1ns; }},
        {"max_hold", [](auto& o) { o.max_hold = -1s; }},
        {"max_lock_renewal", [](auto& o) { o.max_lock_renewal = -1s; }},
        {"error_backoff.max", [](auto& o) { o.error_backoff.max = -1s; }},
        {"health.workers_busy", [](auto& o) { o.health.workers_busy = -1s; }},
        {"failure_policy.park_for", [](auto& o) { o.failure_policy.park_for = -1s; }},
        {"crash_guard.park_for", [](auto& o) { o.crash_guard = CrashGuard{.park_for = -1s}; }},
    };
    for (const Case& each : cases) {
        CAPTURE(each.member);
        SessionProcessorOptions options;
        each.change(options);
        CHECK(refusal([&] { detail::processor::check_options(options); }) ==
              std::string{each.member} +
                  ": must not be negative (Duration::max() is without end; a longer duration "
                  "overflows)");
    }
    SessionProcessorOptions endless;
    endless.session_idle_timeout = std::chrono::hours::max();
    endless.max_hold = endless.max_lock_renewal = endless.error_backoff.max = Duration::max();
    endless.failure_policy = FailurePolicy::park_session(Duration::max());
    endless.crash_guard = CrashGuard{.park_for = Duration::max()};
    CHECK(refusal([&] { detail::processor::check_options(endless); }).empty());
}

TEST_CASE("options check: a bad value is refused by the name of its member") {
    const Case cases[] = {
        {"max_concurrent_sessions", [](auto& o) { o.max_concurrent_sessions = 0; }},
        {"max_concurrent_sessions", [](auto& o) { o.max_concurrent_sessions = 100'001; }},
        {"max_concurrent_calls_per_session",
         [](auto& o) { o.max_concurrent_calls_per_session = 0; }},
        {"max_concurrent_calls_per_session",
         [](auto& o) { o.max_concurrent_calls_per_session = 10'001; }},
        {"max_concurrent_calls", [](auto& o) { o.max_concurrent_calls = 1'000'000'001; }},
        {"session_idle_timeout", [](auto& o) { o.session_idle_timeout = -1ns; }},
        {"max_hold", [](auto& o) { o.max_hold = -1s; }},
        {"prefetch", [](auto& o) { o.prefetch = 10'001; }},
        {"max_buffered_bytes", [](auto& o) { o.max_buffered_bytes = 65'535; }},
        {"worker_threads", [](auto& o) { o.worker_threads = 1025; }},
        {"executor",
         [](auto& o) {
             o.executor = std::make_shared<test::KeepingExecutor>();
             o.worker_threads = 1;
         }},
        {"accept_wait", [](auto& o) { o.accept_wait = Duration::zero(); }},
        {"describe_socket", [](auto& o) { o.describe_socket = std::string(108, 's'); }},
        {"describe_socket",
         [](auto& o) {
             o.describe_socket = std::string{"a\0b", 3};
         }},
        {"accept_wait", [](auto& o) { o.accept_wait = 1h + 1ns; }},
        {"max_lock_renewal", [](auto& o) { o.max_lock_renewal = -1s; }},
        {"error_backoff.min", [](auto& o) { o.error_backoff.min = Duration::zero(); }},
        {"error_backoff.max", [](auto& o) { o.error_backoff.max = 1ms; }},
        {"failure_policy.max_attempts", [](auto& o) { o.failure_policy.max_attempts = 0; }},
        {"failure_policy.max_attempts", [](auto& o) { o.failure_policy.max_attempts = 1001; }},
        {"failure_policy.retry_delay.min", [](auto& o) { o.failure_policy.retry_delay.min = -1s; }},
        {"failure_policy.retry_delay.max", [](auto& o) { o.failure_policy.retry_delay.max = 1ms; }},
        {"max_parked_sessions", [](auto& o) { o.max_parked_sessions = 100'001; }},
        {"failure_policy.retry_delays",
         [](auto& o) { o.failure_policy = FailurePolicy::retry_later({}); }},
        {"failure_policy.retry_delays",
         [](auto& o) {
             o.failure_policy = FailurePolicy::retry_later({1s, 0s});
         }},
        {"failure_policy.abandon_delay.max",
         [](auto& o) { o.failure_policy.abandon_delay = {.min = 2s, .max = 1s}; }},
        {"failure_policy.park_for", [](auto& o) { o.failure_policy.park_for = -1s; }},
        {"crash_guard.deaths", [](auto& o) { o.crash_guard = CrashGuard{.deaths = 1}; }},
        {"crash_guard.deaths", [](auto& o) { o.crash_guard = CrashGuard{.deaths = 1001}; }},
        {"crash_guard.park_for", [](auto& o) { o.crash_guard = CrashGuard{.park_for = -1s}; }},
        {"crash_guard",
         [](auto& o) {
             o.crash_guard = CrashGuard{};
             o.max_concurrent_calls_per_session = 2;
         }},
        {"crash_guard",
         [](auto& o) {
             o.crash_guard = CrashGuard{};
             o.receive_and_delete = true;
         }},
        {"session_ids", [](auto& o) { o.session_ids = {"\xff"}; }},
        {"auto_complete",
         [](auto& o) {
             o.auto_complete = false;
             o.receive_and_delete = true;
         }},
        {"confirm_settlements",
         [](auto& o) {
             o.confirm_settlements = true;
             o.receive_and_delete = true;
         }},
        {"confirm_settlements",
         [](auto& o) {
             o.confirm_settlements = true;
             o.max_concurrent_calls_per_session = 2;
         }},
        {"failure_policy",
         [](auto& o) {
             o.receive_and_delete = true;
             o.failure_policy = FailurePolicy::dead_letter();
         }},
        {"session_ids", [](auto& o) { o.session_ids = {std::string(129, 'x')}; }},
        {"session_ids",
         [](auto& o) {
             o.session_ids = {"a", "b", "a"};
         }},
    };
    for (const Case& each : cases) {
        CAPTURE(each.member);
        SessionProcessorOptions options;
        each.change(options);
        const std::string words = refusal([&] { detail::processor::check_options(options); });
        CAPTURE(words);
        CHECK(words.rfind(std::string{each.member} + ":", 0) == 0);
    }
}

TEST_CASE("options check: limits are checked alone as well") {
    const auto change = [](const SessionProcessorLimits& limits,
                           const SessionProcessorOptions& options = {}) {
        return refusal([&] {
            detail::processor::check_options(detail::processor::with_limits(options, limits));
        });
    };
    CHECK(change({}).empty());
    CHECK(change({.max_concurrent_sessions = 0}) ==
          "max_concurrent_sessions: 0 is not within 1 to 100000");
    CHECK_FALSE(change({.max_concurrent_calls_per_session = 0}).empty());
    CHECK(change({.prefetch = 10'000}).empty());
    CHECK(change({.prefetch = 10'001}) == "prefetch: 10001 is not within 0 to 10000");
    CHECK(change({.max_concurrent_calls_per_session = 2}, {.confirm_settlements = true})
              .starts_with("confirm_settlements")); // as at construction
}

TEST_CASE("options check: entities are named, each once") {
    const auto check = [](std::vector<std::string> entities) {
        return refusal([&] { detail::processor::check_entities(entities); },
                       Errc::invalid_argument);
    };
    CHECK(check({"a", "b"}).empty());
    CHECK(check({}) == "entities: none is named");
    CHECK(check({"a", ""}) == "entities: a name is empty; name a queue or a subscription");
    CHECK(check({"a", "b", "a"}) == "entities: 'a' is there twice");
}

TEST_CASE("options check: session_ids that are one session of the broker are refused") {
    const Capabilities apart{"groups", {Capability::accept_named}};
    const Capabilities folding{"bus",
                               {Capability::accept_named, Capability::session_ids_without_case}};
    const auto check = [](const Capabilities& broker, std::vector<std::string> ids) {
        return refusal([&] {
            detail::processor::check_capabilities({.session_ids = std::move(ids)}, broker,
                                                  ports::Scope::session);
        });
    };
    CHECK(check(apart, {"Ada", "ada"}).empty());
    CHECK(check(folding, {"Ada", "ben"}).empty());
    CHECK(check(folding, {"Ada", "ben", "ada"}) ==
          "session_ids: 'Ada' and 'ada' are one session of this broker");
}

TEST_CASE("options check: what the broker lacks is refused by name of broker and capability") {
    const Capabilities everything{"full",
                                  {Capability::accept_named, Capability::accept_next,
                                   Capability::dead_letter, Capability::receive_and_delete,
                                   Capability::session_state}};
    const Capabilities nothing{"bare", {Capability::accept_next}};
    struct Row {
        const char* lacks;
        std::function<void(SessionProcessorOptions&)> change;
    };
    const Row rows[] = {
        {"accept a named session", [](auto& o) { o.session_ids = {"a"}; }},
        {"receive and delete", [](auto& o) { o.receive_and_delete = true; }},
        {"dead-letter", [](auto& o) { o.failure_policy = FailurePolicy::dead_letter(); }},
        {"dead-letter", [](auto& o) { o.failure_policy = FailurePolicy::dead_letter_session(); }},
        {"session state", [](auto& o) { o.failure_policy = FailurePolicy::retry_later({1s}); }},
        {"session state",
         [](auto& o) { o.crash_guard = CrashGuard{.then = CrashGuard::Action::park_session}; }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.lacks);
        SessionProcessorOptions options;
        row.change(options);
        CHECK(refusal([&] { detail::processor::check_capabilities(options, everything); }).empty());
        CHECK(refusal([&] { detail::processor::check_capabilities(options, nothing); },
                      Errc::not_supported) == std::string{"bare does not have: "} + row.lacks);
    }
    CHECK(refusal([&] { detail::processor::check_capabilities({}, nothing); }).empty());
    const Capabilities named_only{"named", {Capability::accept_named}};
    CHECK_FALSE(
        refusal([&] { detail::processor::check_capabilities({}, named_only); }, Errc::not_supported)
            .empty());
}

TEST_CASE("options check: a policy that needs a session is refused where there is none") {
    const auto refused = [](const FailurePolicy& policy, ports::Scope scope) {
        SessionProcessorOptions options;
        options.failure_policy = policy;
        return refusal([&] { detail::processor::check_options(options, scope); });
    };
    for (const FailurePolicy& policy : {FailurePolicy::abandon(), FailurePolicy::abandon_at_once(),
                                        FailurePolicy::dead_letter()}) {
        CHECK(refused(policy, ports::Scope::entity).empty());
    }
    for (const FailurePolicy& policy :
         {FailurePolicy::park_session(1s), FailurePolicy::dead_letter_session(),
          FailurePolicy::retry_later({1s})}) {
        CHECK(refused(policy, ports::Scope::session).empty());
        CHECK(refused(policy, ports::Scope::entity) ==
              "failure_policy: must abandon or dead-letter: there is no session");
    }
}

TEST_CASE("options check: batches") {
    const auto of = [](const BatchOptions& batch) {
        return refusal([&] { detail::processor::check_batch(batch); });
    };
    CHECK(of({}).empty());
    CHECK(of({.max_messages = 1, .max_wait = 1h}).empty());
    CHECK(of({.max_messages = 10'000}).empty());
    CHECK(of({.max_messages = 0}).starts_with("max_messages: 0 is not within 1 to 10000"));
    CHECK(of({.max_messages = 10'001}).starts_with("max_messages: "));
    CHECK(of({.max_wait = -1ns}).starts_with("max_wait: "));
    CHECK(of({.max_wait = 1h + 1ns}).starts_with("max_wait: "));
}
