// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <sessionq/time.hpp>

namespace sessionq::detail::processor {

/// Decides when the session's record is read, and which delay is written into it. Because of the
/// record, a delay (`retry_later`) holds for the next holder of the session too. `SessionMachine`
/// asks it when a message comes that was delivered before, and when a delay begins or ends. A
/// session without such messages costs nothing.
class RetryDelay {
public:
    enum class Reading : std::uint8_t {
        never, ///< the record must be read now
        asked, ///< the answer is awaited
        known,
    };

    /// A message came that was delivered before. Returns how far the reading of the record is.
    /// Returns `never` only once: the caller then reads the record.
    [[nodiscard]] Reading examine() noexcept {
        return reading_ == Reading::never ? std::exchange(reading_, Reading::asked) : reading_;
    }
    void known() noexcept { reading_ = Reading::known; }

    /// Begins a delay until `until`. No message of the session is handled before it ends. A delay
    /// that began before and ends later stays in force. Returns the delay to write.
    [[nodiscard]] Duration begin(TimePoint until, TimePoint now) noexcept {
        ++writing_;
        until_ = std::max(until_, until);
        return until_ - now;
    }
    /// Ends the delay. Returns zero for the caller to write, which removes the delay from the
    /// record.
    [[nodiscard]] Duration end() noexcept {
        ++writing_;
        until_ = {};
        return Duration::zero();
    }
    /// The broker has answered a write.
    void written() noexcept { writing_ -= writing_ != 0 ? 1 : 0; }

    /// Whether a write awaits the broker's answer. Until the answer, neither the failed message nor
    /// the session is given back.
    [[nodiscard]] bool is_writing() const noexcept { return writing_ != 0; }

private:
    Reading reading_{Reading::never};
    TimePoint until_{}; ///< the end of the delay of messages that failed here
    std::uint32_t writing_{0};
};

} // namespace sessionq::detail::processor
