// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>

#include "tools/sessionq/options.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono_literals;

namespace {

CommandLine parsed_live(std::vector<const char*> arguments, const std::string& environment) {
    arguments.insert(arguments.begin(), "sessionq");
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), environment);
}

TopOptions top_options(std::vector<const char*> arguments) {
    return std::get<TopOptions>(parsed_live(std::move(arguments), "").command);
}

} // namespace

TEST_CASE("live options: top needs a socket and no broker, watch the reverse") {
    CHECK(top_options({"top", "/run/o.sock"}).socket == "/run/o.sock");
    CHECK_THROWS_AS((void)parsed_live({"top"}, "c"), UsageError);
    const CommandLine watch = parsed_live({"watch", "orders", "--once", "--json"}, "c");
    CHECK(std::get<WatchOptions>(watch.command).entity == "orders");
    CHECK(std::get<WatchOptions>(watch.command).live.once);
    CHECK(watch.shared.json);
    CHECK_THROWS_AS((void)parsed_live({"watch", "orders"}, ""), UsageError);
}

TEST_CASE("live options: the interval is seconds, or has a unit") {
    CHECK(top_options({"top", "s"}).live.interval == 1s);
    CHECK_FALSE(top_options({"top", "s"}).live.once);
    CHECK(top_options({"top", "s", "--interval", "0.1"}).live.interval == 100ms);
    CHECK(top_options({"top", "s", "--interval", "3600"}).live.interval == 1h);
    CHECK(top_options({"top", "s", "--interval", "250ms"}).live.interval == 250ms);
    for (const char* wrong : {"0", "0.09", "3601", "", "x", "-1", "1e3", "nan", "61m"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS((void)top_options({"top", "s", "--interval", wrong}), UsageError);
    }
}
