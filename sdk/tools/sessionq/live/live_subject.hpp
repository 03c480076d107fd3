// SPDX-License-Identifier: MIT
#pragma once

#include <stop_token>
#include <string>

#include <sessionq/error.hpp>

#include "tools/sessionq/live/live_report.hpp"

namespace sessionq::cli {

/// Something that can be looked at again and again. One thread at a time uses it.
class LiveSubject {
public:
    virtual ~LiveSubject() = default;

    /// Looks once. Blocks, not longer than some ten seconds, and returns soon after a stop.
    /// Throws std::exception if there is no answer. The last result stays then. After an Error
    /// for which `is_mistake` holds, no look will succeed.
    virtual void look(std::stop_token stop) = 0;

    /// Of the last look that succeeded: there was one.
    [[nodiscard]] virtual LiveReport report() const = 0;
    /// The same as one line of JSON.
    [[nodiscard]] virtual std::string json() const = 0;

    /// How it is called where nothing else is known of it.
    [[nodiscard]] virtual std::string target() const = 0;
};

/// The command line asks for something that cannot be.
[[nodiscard]] inline bool is_mistake(const Error& error) noexcept {
    return error.code() == Errc::invalid_argument || error.code() == Errc::invalid_option;
}

} // namespace sessionq::cli
