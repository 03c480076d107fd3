// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace sessionq::ports {

/// The state of a session as a broker keeps it: the application's own state, and beside it a record
/// of this library. Without a record the state is the application's bytes as they are.
///
/// With a record it is an envelope, which other clients read and must write back as it is:
///
///     8 bytes  0x89 "SQSTATE"
///     1 byte   the version of this layout: 1
///     1 byte   1 if the application has a state, else 0
///     4 bytes  the length of the record, in network order
///     the record, then the application's bytes
struct StateEnvelope {
    /// An empty one is none, as on Azure Service Bus: Go's client clears a state with no bytes, and
    /// its live test then reads null (azure-sdk-for-go pull 19638).
    std::optional<std::string> application{};
    std::string record{}; ///< empty: none

    /// Bytes that are no whole envelope of a known version are the application's.
    [[nodiscard]] static StateEnvelope open(std::optional<std::string> stored);
    /// No value if there is nothing to keep.
    [[nodiscard]] std::optional<std::string> seal() &&;
};

} // namespace sessionq::ports
