// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace sessionq::ports {

/// Keeps a record of this library in the state of a session at the broker, beside the application's
/// own state. `EnvelopedState` opens it at each read and seals it at each write. Without a record
/// the broker keeps the application's bytes unchanged.
///
/// With a record it keeps an envelope, which other clients read and must write back unchanged:
///
///     8 bytes  0x89 "SQSTATE"
///     1 byte   the version of this layout: 1
///     1 byte   1 if the application has a state, else 0
///     4 bytes  the length of the record, in network order
///     the record, then the application's bytes
struct StateEnvelope {
    /// An empty state is none, as on Azure Service Bus: Go's client clears a state with no bytes,
    /// and its live test then reads null (azure-sdk-for-go pull 19638).
    std::optional<std::string> application{};
    std::string record{}; ///< empty: none

    /// If the bytes are not a whole envelope of a known version, all are the application's.
    [[nodiscard]] static StateEnvelope open(std::optional<std::string> stored);
    /// No value if there is nothing to keep.
    [[nodiscard]] std::optional<std::string> seal() &&;
};

} // namespace sessionq::ports
