// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>

#include "tools/sessionq/live/entity_look.hpp"
#include "tools/sessionq/live/entity_report.hpp"
#include "tools/sessionq/live/report_text.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono_literals;

namespace {

constexpr WallTime look_time{std::chrono::hours{480'000}};

MessageGlance glance(std::int64_t number, std::optional<std::string_view> session,
                     Duration age = 1s, MessageState state = MessageState::active) {
    MessageGlance message{.session_id = session, .bytes = 100};
    message.facts.sequence_number = number;
    message.facts.enqueued_time = look_time - std::chrono::duration_cast<WallTime::duration>(age);
    message.facts.state = state;
    return message;
}

EntityTally tally_after(const EntityLook* before, double seconds = 2) {
    return EntityTally{"orders", look_time, before, seconds};
}

EntityLook first_look() {
    EntityTally tally = tally_after(nullptr);
    tally.add(glance(1, "ada", 10s));
    tally.add(glance(2, "ben", 5s));
    tally.add(glance(3, "ada", 0s, MessageState::deferred));
    tally.add(glance(4, "ada", 0s, MessageState::scheduled));
    tally.add_sessions({"ada", "ben", "cid"});
    tally.add_states({"cid", "unknown"});
    tally.add_dead_letters(7, true);
    return tally.finish();
}

bool text_has(const EntityLook& look, const std::string& wanted) {
    const std::string text = text_of(report_of(look));
    CAPTURE(text);
    return text.find(wanted) != std::string::npos;
}

} // namespace

TEST_CASE("entity look: messages by state and session, with ages") {
    const EntityLook look = first_look();
    REQUIRE(look.messages);
    CHECK(look.messages->active == 2);
    CHECK(look.messages->deferred == 1);
    CHECK(look.messages->scheduled == 1);
    CHECK(look.oldest_age == 10);
    REQUIRE(look.sessions.size() == 3);
    CHECK(look.sessions[0].id == "ada");
    CHECK(look.sessions[0].messages.total() == 3);
    CHECK(look.sessions[0].oldest_age == 10);
    CHECK(look.sessions[0].has_state == false);
    CHECK(look.sessions[1].oldest_age == 5);
    CHECK(look.sessions[2].has_state == true);
    CHECK_FALSE(look.sessions[2].oldest_age);
    CHECK(look.session_count == 3);
    CHECK(look.dead_letters == 7);
    CHECK(look.notes.empty());
    CHECK_FALSE(look.came);                                           // there was no look before
    CHECK(look.ages == std::map<int, std::uint64_t>{{3, 1}, {4, 1}}); // below 8 s, below 16 s
}

TEST_CASE("entity look: rates from one look to the next") {
    const EntityLook before = first_look();
    EntityTally tally = tally_after(&before);
    tally.add(glance(2, "ben"));
    tally.add(glance(4, "ada", 0s, MessageState::scheduled)); // the last one of the first look
    tally.add(glance(5, "ben"));
    tally.add(glance(6, "ben"));
    tally.add(glance(7, "new"));
    const EntityLook look = tally.finish();
    CHECK(look.came == 1.5);
    CHECK(look.went == 1); // 1 and 3
    REQUIRE(look.sessions.size() == 3);
    CHECK(look.sessions[0].change == 1);
    CHECK(look.sessions[1].change == -1);
    CHECK(look.sessions[2].change == 0.5);
}

TEST_CASE("entity look: a message with an old number that comes back is no negative rate") {
    EntityTally first = tally_after(nullptr);
    first.add(glance(5, "ada"));
    const EntityLook before = first.finish();
    EntityTally tally = tally_after(&before);
    tally.add(glance(3, "ada"));
    tally.add(glance(5, "ada"));
    const EntityLook look = tally.finish();
    CHECK(look.came == 0);
    CHECK(look.went == 0);
}

TEST_CASE("entity look: no rates if one of the looks was cut, or at no distance") {
    EntityTally cut = tally_after(nullptr);
    cut.add(glance(1, "ada"));
    cut.cut_messages("enough");
    const EntityLook before = cut.finish();
    CHECK(before.notes == std::vector<std::string>{"only the first 1 messages: enough"});
    CHECK_FALSE(tally_after(&before).finish().came);
    const EntityLook whole = first_look();
    CHECK_FALSE(tally_after(&whole, 0).finish().came);
    EntityTally second = tally_after(&whole);
    second.cut_messages("enough");
    CHECK_FALSE(second.finish().came);
}

TEST_CASE("entity look: work is bounded by messages and by bytes") {
    EntityTally many = tally_after(nullptr);
    std::size_t added = 0;
    for (; many.has_room() && added < 20'000; ++added) {
        many.add(glance(static_cast<std::int64_t>(added) + 1, std::nullopt));
    }
    CHECK(added == most_messages_of_look);
    EntityTally large = tally_after(nullptr);
    MessageGlance message = glance(1, std::nullopt);
    message.bytes = most_bytes_of_look;
    CHECK(large.has_room());
    large.add(message);
    CHECK_FALSE(large.has_room());
    EntityTally sessions = tally_after(nullptr);
    std::vector<std::string> ids;
    for (std::size_t at = 0; at < most_sessions_of_look + 5; ++at) {
        ids.push_back(std::to_string(at));
    }
    sessions.add_sessions(ids);
    const EntityLook look = sessions.finish();
    CHECK(look.sessions.size() == most_sessions_of_look);
    CHECK(look.session_count == ids.size());
    CHECK(look.notes == std::vector<std::string>{"only 10,000 of 10,005 sessions"});
}

TEST_CASE("entity look: a message from the future is not old") {
    EntityTally tally = tally_after(nullptr);
    tally.add(glance(1, "ada", -5s));
    CHECK(tally.finish().oldest_age == 0);
}

TEST_CASE("entity report: as text") {
    EntityLook look = first_look();
    CHECK(text_has(look, "4 messages: 2 active, 1 deferred, 1 scheduled; the oldest active one is "
                         "10s old"));
    CHECK(text_has(look, "a second: came -, went -"));
    CHECK(text_has(look, "3 sessions, 7 dead letters"));
    CHECK(text_has(look, "< 16s"));
    look.has_all_dead_letters = false;
    look.has_all_messages = false;
    look.sessions[0].id = "\x1b[2J";
    look.notes = {"a note"};
    CHECK(text_has(look, "4 or more messages"));
    CHECK(text_has(look, "7 or more dead letters"));
    CHECK(text_has(look, "?[2J"));
    CHECK(text_has(look, "a note"));
}

TEST_CASE("entity report: as JSON, and null is what is not known") {
    EntityLook look = first_look();
    Json json = json_of(look);
    CHECK(json["messages"]["active"] == 2);
    CHECK(json["sessions"][0]["session"] == "ada");
    CHECK(json["sessions"][0]["oldest_age"] == 10.0);
    CHECK(json["sessions"][2]["has_state"] == true);
    CHECK(json["dead_letters"] == 7);
    CHECK(json["came_per_second"].is_null());
    EntityTally nothing = tally_after(nullptr);
    nothing.no_messages();
    look = nothing.finish();
    json = json_of(look);
    CHECK(json["messages"].is_null());
    CHECK(json["dead_letters"].is_null());
    CHECK(json["session_count"].is_null());
    CHECK(text_has(look, "messages: not shown by this broker"));
    CHECK_FALSE(text_has(look, "no active message"));
    CHECK(text_has(look, "- sessions, - dead letters"));
}

TEST_CASE("entity look: ids that differ in case only are one session") {
    EntityTally tally = tally_after(nullptr);
    tally.add(glance(1, "Ada"));
    tally.add(glance(2, "ada"));
    tally.add_sessions({"Ada"});
    tally.add_states({"ADA"});
    const EntityLook look = tally.finish();
    REQUIRE(look.sessions.size() == 1);
    CHECK(look.sessions[0].id == "Ada");
    CHECK(look.sessions[0].messages.total() == 2);
    CHECK(look.sessions[0].has_state == true);
}
