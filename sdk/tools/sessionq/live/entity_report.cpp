// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/entity_report.hpp"

#include <cmath>

#include "tools/sessionq/live/quantities.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

constexpr std::string_view messages_hidden = "messages: not shown by this broker";

/// "10,000 or more" if not all was seen.
std::string seen_text(std::uint64_t count, bool is_all, const std::string& noun) {
    return is_all ? counted(count, noun) : count_text(count) + " or more " + noun + "s";
}

std::string entity_messages_line(const EntityLook& look) {
    if (!look.messages) {
        return std::string{messages_hidden};
    }
    const MessageTally& tally = *look.messages;
    std::string line = seen_text(tally.total(), look.has_all_messages, "message") + ": " +
                       count_text(tally.active) + " active, " + count_text(tally.deferred) +
                       " deferred, " + count_text(tally.scheduled) + " scheduled";
    return look.oldest_age
               ? line + "; the oldest active one is " + length_text(*look.oldest_age) + " old"
               : line;
}

std::string entity_rates_line(const EntityLook& look) {
    return "a second: came " + rate_text(look.came) + ", went " + rate_text(look.went);
}

std::string others_line(const EntityLook& look) {
    return (look.session_count ? counted(*look.session_count, "session") : "- sessions") + ", " +
           (look.dead_letters
                ? seen_text(*look.dead_letters, look.has_all_dead_letters, "dead letter")
                : "- dead letters");
}

Cell tally_cell(std::uint64_t count) {
    return {.text = count_text(count),
            .order = static_cast<double>(count),
            .style = count == 0 ? Style::dim : Style::plain};
}

Cell change_cell(double change) {
    const std::string sign = change > 0 ? "+" : change < 0 ? "-" : "";
    return {.text = sign + rate_text(std::abs(change)),
            .order = change,
            .style = change == 0 ? Style::dim : Style::plain};
}

std::vector<Cell> session_row(const SessionLook& session, bool has_rates) {
    return {{.text = session.id, .style = Style::strong},
            tally_cell(session.messages.active),
            tally_cell(session.messages.deferred),
            tally_cell(session.messages.scheduled),
            {.text = session.oldest_age ? length_text(*session.oldest_age) : "-",
             .order = session.oldest_age.value_or(-1)},
            has_rates ? change_cell(session.change) : Cell{.text = "-", .style = Style::dim},
            {.text = !session.has_state   ? "?"
                     : *session.has_state ? "yes"
                                          : "no"}};
}

Page sessions_page(const EntityLook& look) {
    constexpr std::size_t least_id = 12;
    Page page{.name = "Sessions"};
    for (const std::string& line :
         {entity_messages_line(look), entity_rates_line(look), others_line(look)}) {
        page.head.push_back({{line, Style::plain}});
    }
    for (const std::string& note : look.notes) {
        page.head.push_back({{note, Style::warning}});
    }
    page.table.columns = {{.title = "session", .least = least_id}};
    for (const char* title : {"active", "deferred", "scheduled", "oldest", "per s"}) {
        page.table.columns.push_back({.title = title, .is_number = true});
    }
    page.table.columns.push_back({.title = "state"});
    for (const SessionLook& session : look.sessions) {
        page.table.rows.push_back(session_row(session, look.came.has_value()));
    }
    return page;
}

Page ages_page(const EntityLook& look) {
    Page page{.name = "Ages"};
    if (look.ages.empty()) {
        page.head.push_back(
            {{look.messages ? "no active message" : std::string{messages_hidden}, Style::dim}});
        return page;
    }
    Bars bars{.title = "age of active messages"};
    for (int exponent = look.ages.begin()->first; exponent <= look.ages.rbegin()->first;
         ++exponent) {
        const auto found = look.ages.find(exponent);
        bars.bars.push_back({"< " + length_text(std::ldexp(1, exponent)),
                             found != look.ages.end() ? found->second : 0});
    }
    page.bars.push_back(std::move(bars));
    return page;
}

template <typename Value>
Json json_or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

} // namespace

LiveReport report_of(const EntityLook& look) {
    LiveReport report;
    report.title = {{look.entity, Style::strong}, {"  " + time_text(look.time), Style::dim}};
    report.pages = {sessions_page(look), ages_page(look)};
    return report;
}

Json json_of(const EntityLook& look) {
    const auto tally = [](const MessageTally& messages) {
        return Json{{"active", messages.active},
                    {"deferred", messages.deferred},
                    {"scheduled", messages.scheduled}};
    };
    Json json = Json::object();
    put_text(json, "entity", look.entity);
    json["time"] = time_text(look.time);
    json["messages"] = look.messages ? tally(*look.messages) : Json(nullptr);
    json["has_all_messages"] = look.has_all_messages;
    json["oldest_age"] = json_or_null(look.oldest_age);
    json["came_per_second"] = json_or_null(look.came);
    json["went_per_second"] = json_or_null(look.went);
    json["dead_letters"] = json_or_null(look.dead_letters);
    json["has_all_dead_letters"] = look.has_all_dead_letters;
    json["session_count"] = json_or_null(look.session_count);
    json["sessions"] = Json::array();
    for (const SessionLook& session : look.sessions) {
        Json entry = Json::object();
        put_text(entry, "session", session.id);
        entry.update(tally(session.messages));
        entry["oldest_age"] = json_or_null(session.oldest_age);
        entry["has_state"] = json_or_null(session.has_state);
        json["sessions"].push_back(std::move(entry));
    }
    json["notes"] = look.notes;
    return json;
}

} // namespace sessionq::cli
