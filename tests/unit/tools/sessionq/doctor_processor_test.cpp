// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_findings.hpp"

using namespace sessionq;
using namespace sessionq::cli;

namespace {

ProcessorSnapshot healthy() {
    return {.state = "running",
            .entities = {"orders", "news"},
            .health = "healthy",
            .counters = {{"messages_handled", 20}}};
}

std::vector<Finding> judged(const ProcessorSnapshot& snapshot) {
    return judge(ProcessorFacts{.socket = "/run/s", .told = snapshot});
}

} // namespace

TEST_CASE("doctor: a healthy processor is two lines") {
    const auto findings = judged(healthy());
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].check == "processor");
    CHECK(findings[0].verdict == Verdict::ok);
    CHECK(findings[0].found == "of 'orders', 'news': running, healthy");
    CHECK(findings[1].check == "handlers");
    CHECK(findings[1].verdict == Verdict::ok);
    CHECK(findings[1].found == "20 handler calls returned, 0 threw; 0 messages were dead-lettered");
}

TEST_CASE("doctor: each reason of a processor is a failure with its advice") {
    ProcessorSnapshot sick = healthy();
    sick.health = "degraded";
    sick.reasons = {{.cause = "handler_slow",
                     .entity = "orders",
                     .session_id = "ada",
                     .detail = "1 handler runs",
                     .advice = "look at the handler",
                     .count = 1,
                     .since = 80},
                    {.cause = "internal_error", .since = 1e300}};
    const auto findings = judged(sick);
    REQUIRE(findings.size() == 4);
    CHECK(findings[0].verdict == Verdict::failed);
    CHECK(findings[1].check == "health");
    CHECK(findings[1].verdict == Verdict::failed);
    CHECK(findings[1].found == "handler_slow for 80 s at 'orders', session 'ada': 1 handler runs");
    CHECK(findings[1].change == "look at the handler");
    CHECK(findings[2].found.starts_with("internal_error for "));
}

TEST_CASE("doctor: handlers that threw are a warning") {
    ProcessorSnapshot failing = healthy();
    failing.counters = {
        {"messages_handled", 1}, {"messages_failed", 3}, {"messages_dead_lettered", 2}};
    const Finding handlers = judged(failing).back();
    CHECK(handlers.verdict == Verdict::warning);
    CHECK(handlers.found == "1 handler calls returned, 3 threw; 2 messages were dead-lettered");
    CHECK(handlers.change.find("handler_failed") != std::string::npos);
}

TEST_CASE("doctor: a processor that is paused is a warning") {
    ProcessorSnapshot paused = healthy();
    paused.state = "paused";
    CHECK(judged(paused).front().verdict == Verdict::warning);
}

TEST_CASE("doctor: a processor that does not answer is a failure with the reason") {
    const auto findings =
        judge(ProcessorFacts{.socket = "/run/s", .error = "No such file or directory"});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].verdict == Verdict::failed);
    CHECK(findings[0].found == "no processor answered at '/run/s': No such file or directory");
    CHECK(findings[0].change.find("describe_socket") != std::string::npos);
}
