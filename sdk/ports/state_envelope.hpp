// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace sessionq::ports {

/// Keeps a record of this library in the state of a session at the broker, beside the application's
/// own state. `EnvelopedState` opens the envelope at each read and seals it at each write. Without
/// a record, the broker keeps the application's bytes unchanged.
///
/// With a record, the broker keeps an envelope. Other clients read the envelope, and must write it
/// back unchanged. Its layout:
///
///     8 bytes  0x89 "SQSTATE"
///     1 byte   the version of this layout: 1
///     1 byte   1 if the application has a state, else 0
///     4 bytes  the length of the record, in network order
///     the record, then the application's bytes
struct StateEnvelope {
    /// The application's state. An empty string counts as no state, as on Azure Service Bus. There,
    /// Go's client clears the state by writing no bytes, and its live test then reads null
    /// (azure-sdk-for-go pull 19638).
    std::optional<std::string> application{};
    std::string record{}; ///< empty: none

    /// Decodes the stored bytes. If they are not a whole envelope of a known version, all of them
    /// are the application's state.
    [[nodiscard]] static StateEnvelope open(std::optional<std::string> stored);
    /// Encodes both parts. No value if there is nothing to keep.
    [[nodiscard]] std::optional<std::string> seal() &&;
};

} // namespace sessionq::ports
