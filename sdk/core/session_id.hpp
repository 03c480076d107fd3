// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sessionq::core {

// Azure Service Bus ignores the case of session ids (azure-sdk-for-java pull 48759, durabletask
// pull 1334). Ids that differ in case only are one session there, and it may name the session in
// either casing. Beyond ASCII the service's comparison is not known. Each character counts here as
// its simple upper case in Unicode 14 if that is not ASCII, as in the comparison
// `OrdinalIgnoreCase` of .NET, which Microsoft's own programs use for session ids.

/// The form in which all ids of one session are equal. A byte that is not UTF-8 stays as it is.
[[nodiscard]] std::string fold_session_id(std::string_view id);

/// Whether both ids name the same session.
[[nodiscard]] bool is_same_session(std::string_view left, std::string_view right) noexcept;

/// Hash and equality for containers whose keys are sessions.
struct SessionIdHash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view id) const noexcept;
};
struct SessionIdEqual {
    using is_transparent = void;
    [[nodiscard]] bool operator()(std::string_view left, std::string_view right) const noexcept {
        return is_same_session(left, right);
    }
};

} // namespace sessionq::core
