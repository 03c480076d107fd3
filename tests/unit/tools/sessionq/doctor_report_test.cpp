// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_report.hpp"

using namespace sessionq;
using namespace sessionq::cli;

namespace {

const Finding fine{.check = "clock", .found = "it is right", .figures = {{"seconds", 1.5}}};
const Finding broken{
    .check = "TLS", .verdict = Verdict::failed, .found = "none", .change = "use some"};

} // namespace

TEST_CASE("doctor report: a line holds the verdict, the check, what was found and what to change") {
    DoctorReport report{false};
    CHECK(report.add(fine) == "ok       clock            it is right\n");
    CHECK(report.add(broken) == "failed   TLS              none; use some\n");
}

TEST_CASE("doctor report: in JSON each finding is an object") {
    DoctorReport report{true};
    CHECK(report.add(fine) == "{\"check\":\"clock\",\"result\":\"ok\",\"found\":\"it is right\","
                              "\"figures\":{\"seconds\":1.5}}\n");
    CHECK(report.add(broken) == "{\"check\":\"TLS\",\"result\":\"failed\",\"found\":\"none\","
                                "\"change\":\"use some\"}\n");
}

TEST_CASE("doctor report: only a failed check changes the exit code, for good") {
    DoctorReport report{false};
    for (const Verdict verdict : {Verdict::ok, Verdict::warning, Verdict::skipped}) {
        static_cast<void>(report.add({.check = "c", .verdict = verdict}));
        CHECK(report.exit_code() == 0);
    }
    static_cast<void>(report.add(broken));
    static_cast<void>(report.add(fine));
    CHECK(report.exit_code() == 1);
}

TEST_CASE("doctor report: a peer's words cannot control a terminal or forge a line") {
    const Finding evil{.check = "c", .found = "a\x1b[2J\nfailed b"};
    CHECK(DoctorReport{false}.add(evil) == "ok       c                a?[2J?failed b\n");
    const std::string json = DoctorReport{true}.add(evil);
    CHECK(json.find('\n') == json.size() - 1);
    CHECK(json.find('\x1b') == std::string::npos);
}
