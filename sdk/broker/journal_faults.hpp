// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/error.hpp>

#include "broker/journal.hpp"

namespace sessionq::broker {

/// How a change affects the size of the stored state.
enum class Growth : std::uint8_t {
    none, ///< removes something, or changes something in place
    adds, ///< needs more room
};

[[nodiscard]] inline Failure journal_failing(std::string_view name) {
    return {.code = Errc::server_busy,
            .detail = "entity '" + std::string{name} +
                      "': the broker's store cannot be written now; try again later"};
}
[[nodiscard]] inline Failure journal_full(std::string_view name) {
    return {.code = Errc::quota_exceeded,
            .detail = "entity '" + std::string{name} + "': the broker's store is full"};
}

/// Why `journal` cannot store such a change of an entity now, if so. On a full disk it rejects
/// growth; while it cannot write it rejects everything. Null: nothing is stored, so nothing is
/// rejected.
[[nodiscard]] inline std::optional<Failure> find_journal_fault(const Journal* journal,
                                                               std::string_view name,
                                                               Growth growth) {
    if (journal != nullptr && growth == Growth::adds && journal->is_full()) {
        return journal_full(name);
    }
    if (journal != nullptr && journal->is_failing()) {
        return journal_failing(name);
    }
    return std::nullopt;
}

} // namespace sessionq::broker
