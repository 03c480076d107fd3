// SPDX-License-Identifier: MIT
#include "core/log_folding.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace sessionq;
using namespace sessionq::core;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint begin{1h};

struct Events {
    bool offer(std::string_view event, std::string_view entity, std::string_view text,
               TimePoint now) {
        const std::array fields{LogField{.name = "entity", .value = entity},
                                LogField{.name = "session", .value = text},
                                LogField{.name = "code", .value = "lock_lost"}};
        return folding.offer({.event = event, .text = text, .fields = fields}, now);
    }
    std::string due(TimePoint now) {
        std::string told;
        for (const LogFolding::Held& each : folding.due(now)) {
            const LogRecord record = each.last->record(each.count);
            told += std::string{record.event} + " " + std::string{record.text} + " " +
                    std::to_string(record.repeated) + " ";
        }
        return told;
    }

    LogFolding folding{};
};

} // namespace

TEST_CASE("log folding: the first is written, what repeats it within the time is counted") {
    Events events;
    CHECK(events.offer("lost", "orders", "a", begin));
    CHECK_FALSE(events.offer("lost", "orders", "b", begin + 1s));
    CHECK_FALSE(events.offer("lost", "orders", "c", begin + 9s));
    CHECK(events.offer("lost", "others", "d", begin + 9s));
    CHECK(events.offer("opened", "orders", "e", begin + 9s));
    CHECK(events.due(begin + 9s).empty());
    CHECK(events.due(begin + 10s) == "lost c 2 ");
    CHECK(events.offer("lost", "orders", "f", begin + 10s)); // a new row begins
    CHECK(events.due(begin + 1h).empty());                   // none was held back
}

TEST_CASE("log folding: what is no failure is never held back") {
    LogFolding folding;
    for (int i = 0; i < 3; ++i) {
        CHECK(folding.offer({.event = "connected", .text = "text"}, begin));
    }
    CHECK(folding.all().empty());
}

TEST_CASE("log folding: fields of what is held back outlive the event") {
    Events events;
    static_cast<void>(events.offer("lost", "orders", "a", begin));
    {
        const std::string session(100, 'x');
        CHECK_FALSE(events.offer("lost", "orders", session, begin));
    }
    auto held = events.folding.all();
    REQUIRE(held.size() == 1);
    const LogRecord record = held.front().last->record(1);
    REQUIRE(record.fields.size() == 3);
    CHECK(record.fields[0].value == "orders");
    CHECK(record.fields[1].value == std::string(100, 'x'));
}

TEST_CASE("log folding: beyond so many kinds the oldest is let go, and told") {
    Events events;
    static_cast<void>(events.offer("first", "", "a", begin));
    CHECK_FALSE(events.offer("first", "", "b", begin));
    for (std::size_t i = 0; i < LogFolding::most_kinds; ++i) {
        CHECK(events.offer("kind " + std::to_string(i), "", "", begin));
    }
    CHECK(events.due(begin) == "first b 1 ");
    CHECK(events.offer("first", "", "c", begin));
}
