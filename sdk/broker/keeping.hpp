#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sessionq/error.hpp>

#include "broker/journal.hpp"

namespace sessionq::broker {

/// What a change does to what is kept.
enum class Growth : std::uint8_t {
    none, ///< takes from it, or alters what is there
    adds, ///< needs room that it did not have
};

[[nodiscard]] inline Failure cannot_be_kept(std::string_view name) {
    return {.code = Errc::server_busy,
            .detail = "entity '" + std::string{name} +
                      "': the broker's store cannot be written at present"};
}
[[nodiscard]] inline Failure has_no_room(std::string_view name) {
    return {.code = Errc::quota_exceeded,
            .detail = "entity '" + std::string{name} +
                      "': the broker's store has no room for more at present"};
}

/// Why `journal` (null: nothing is kept) takes no such change of an entity at present, if it takes
/// none: what adds is refused on a full disk, and everything while nothing can be written.
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
