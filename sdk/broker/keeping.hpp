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

[[nodiscard]] inline Failure cannot_be_kept(std::string_view name) {
    return {.code = Errc::server_busy,
            .detail = "entity '" + std::string{name} +
                      "': the broker's store cannot be written now; try again later"};
}
[[nodiscard]] inline Failure has_no_room(std::string_view name) {
    return {.code = Errc::quota_exceeded,
            .detail = "entity '" + std::string{name} + "': the broker's store is full"};
}

/// Why `journal` cannot store such a change of an entity now, if so. On a full disk it rejects
/// growth; while it cannot write it rejects everything. Null: nothing is stored, so nothing is
/// rejected.
[[nodiscard]] inline std::optional<Failure> find_keeping_fault(const Journal* journal,
                                                               std::string_view name,
                                                               Growth growth) {
    if (journal != nullptr && growth == Growth::adds && journal->is_full()) {
        return has_no_room(name);
    }
    if (journal != nullptr && journal->is_failing()) {
        return cannot_be_kept(name);
    }
    return std::nullopt;
}

} // namespace sessionq::broker
