// SPDX-License-Identifier: MIT
#include "broker/transit.hpp"

namespace sessionq::broker {

DeadLetterInfo describe_transit_failure(const Failure& why) {
    if (why.code == Errc::session_required) {
        return {
            .reason = "Session ID is null",
            .description =
                "Session enabled entity doesn't allow a message whose session identifier is null."};
    }
    return {.reason = std::string{to_string(why.code)}, .description = why.detail};
}

} // namespace sessionq::broker
