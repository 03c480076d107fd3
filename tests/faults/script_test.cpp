// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <set>

#include "faults/script.hpp"

using namespace sessionq;
using namespace sessionq::faults;
using namespace std::chrono_literals;

namespace {

std::string refusal(std::string_view text) {
    try {
        static_cast<void>(parse_script(text));
    } catch (const ScriptError& error) {
        return error.what();
    }
    return "taken";
}

} // namespace

TEST_CASE("fault script: each line is a fault; the result is sorted by time") {
    const Script script =
        parse_script("# a comment\n\n2s stall conns=all way=down for=800ms # and another\r\n1500ms "
                     "reset\n1s delay delay=5ms jitter=200us for=3s\n");
    REQUIRE(script.size() == 3);
    CHECK(script[0] ==
          Fault{.kind = FaultKind::delay, .at = 1s, .length = 3s, .delay = 5ms, .jitter = 200us});
    CHECK(script[1] == Fault{.kind = FaultKind::reset, .at = 1500ms});
    CHECK(script[2] ==
          Fault{.kind = FaultKind::stall, .at = 2s, .count = 0, .way = Way::down, .length = 800ms});
    CHECK(parse_script("").empty());
}

TEST_CASE("fault script: an error names the line") {
    CHECK(refusal("1s reset\n1s break") == "line 2: 'break' is not a kind of fault");
    CHECK(refusal("soon reset") == "line 1: 'soon' is not a time in us, ms or s");
    CHECK(refusal("1h reset") == "line 1: '1h' is not a time in us, ms or s");
    CHECK(refusal("1s stall") == "line 1: stall needs for=");
    CHECK(refusal("1s delay for=1s") == "line 1: delay needs delay=");
    CHECK(refusal("1s throttle for=1s") == "line 1: throttle needs rate=");
    CHECK(refusal("1s reset for=1s") == "line 1: 'for=1s' is an option that reset does not take");
    CHECK(refusal("1s refuse conns=2 for=1s") ==
          "line 1: 'conns=2' is an option that refuse does not take");
    CHECK(refusal("1s half-close way=left") == "line 1: 'left' is not up, down or both");
    CHECK(refusal("1s reset conns=0") == "line 1: '0' is not a positive number");
    CHECK(refusal("999999999999999s reset") ==
          "line 1: '999999999999999s' is not a time in us, ms or s");
}

TEST_CASE("fault script: a random campaign depends on its seed only, has every kind, and can be "
          "written and read") {
    const CampaignPlan plan{.seed = 42, .faults = 400, .length = 100s};
    const Script script = draw_campaign(plan);
    CHECK(script.size() == 400);
    CHECK(script == draw_campaign(plan));
    CHECK_FALSE(script == draw_campaign({.seed = 43, .faults = 400, .length = 100s}));
    CHECK(parse_script(to_text(script)) == script);
    std::set<FaultKind> kinds;
    for (const Fault& fault : script) {
        kinds.insert(fault.kind);
        CHECK(fault.at <= 100s);
    }
    CHECK(kinds.size() == fault_kinds);
}
