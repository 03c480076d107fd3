// SPDX-License-Identifier: MIT
#include <cstddef>
#include <optional>
#include <utility>

#include <sessionq/browser.hpp>
#include <sessionq/error.hpp>

#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

constexpr std::string_view dead_letters = "/$DeadLetterQueue";

struct Tally {
    std::size_t active{0};
    std::size_t deferred{0};
    std::size_t scheduled{0};
};

Tally tally(const Client& client, const std::string& entity) {
    Tally found;
    for (const ReceivedMessage& message : Browser{client, entity}) {
        switch (message.facts().state) {
        case MessageState::active: ++found.active; break;
        case MessageState::deferred: ++found.deferred; break;
        case MessageState::scheduled: ++found.scheduled; break;
        }
    }
    return found;
}

/// Nothing if the broker, or this kind of entity, cannot show it. Says so.
template <typename Count>
auto unless_unsupported(const Count& count) -> std::optional<decltype(count())> {
    try {
        return count();
    } catch (const Error& error) {
        if (error.code() != Errc::not_supported && error.code() != Errc::session_required) {
            throw;
        }
        tell(error.what());
        return std::nullopt;
    }
}

/// Nothing for a topic, which has no dead-letter queue.
std::optional<std::size_t> count_dead_letters(const Client& client, const std::string& entity) {
    try {
        return tally(client, entity + std::string{dead_letters}).active;
    } catch (const Error& error) {
        if (error.code() != Errc::entity_not_found) {
            throw;
        }
        return std::nullopt;
    }
}

void add(Json& counts, const char* name, std::optional<std::size_t> count) {
    counts[name] = count ? Json(*count) : Json(nullptr);
}

std::string table_of(const Json& counts) {
    constexpr std::size_t width = 15;
    std::string table;
    for (const auto& [name, count] : counts.items()) {
        std::string row = name;
        row.resize(width, ' ');
        table += row + (count.is_null() ? "-" : count.dump()) + "\n";
    }
    return table;
}

} // namespace

int run(const Client& client, const Shared& shared, const CountsOptions& options) {
    const std::string& entity = options.entity;
    Json counts = Json::object();
    const auto messages = unless_unsupported([&] { return tally(client, entity); });
    const auto field = [&](std::size_t Tally::*count) {
        return messages ? std::optional{(*messages).*count} : std::nullopt;
    };
    add(counts, "active", field(&Tally::active));
    add(counts, "deferred", field(&Tally::deferred));
    add(counts, "scheduled", field(&Tally::scheduled));
    if (!entity.ends_with(dead_letters)) {
        const auto dead = messages ? count_dead_letters(client, entity) : std::nullopt;
        add(counts, "dead_letters", dead);
    }
    const auto sessions = unless_unsupported([&] { return list_sessions(client, entity).size(); });
    add(counts, "sessions", sessions);
    write_output(shared.json ? line_of(counts) : table_of(counts));
    return messages || sessions ? 0 : 1;
}

} // namespace sessionq::cli
