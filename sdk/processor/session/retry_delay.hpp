// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Decides what is kept with a session so that a delayed retry survives (`retry_later`): when its
/// record is read, and what is written into it. What was never delivered before costs nothing.
class RetryDelay {
public:
    enum class Reading : std::uint8_t {
        never, ///< the record is to be read now
        asked, ///< the answer is awaited
        known,
    };

    /// A message was delivered before. Says `never` once.
    [[nodiscard]] Reading examine() noexcept {
        return reading_ == Reading::never ? std::exchange(reading_, Reading::asked) : reading_;
    }
    void known() noexcept { reading_ = Reading::known; }

    /// Nothing of the session is to be handled until then, or until a later instant that was given.
    /// Returns the delay to be written.
    [[nodiscard]] Duration begin(TimePoint until, TimePoint now) noexcept {
        ++writing_;
        until_ = std::max(until_, until);
        return until_ - now;
    }
    /// The delay is over. Returns zero, to be written: the record goes.
    [[nodiscard]] Duration end() noexcept {
        ++writing_;
        until_ = {};
        return Duration::zero();
    }
    /// The broker has answered to a change.
    void written() noexcept { writing_ -= writing_ != 0 ? 1 : 0; }

    /// The broker has not confirmed the record: the failed message stays here, and so the session.
    [[nodiscard]] bool is_writing() const noexcept { return writing_ != 0; }

private:
    Reading reading_{Reading::never};
    TimePoint until_{}; ///< of messages that failed here
    std::uint32_t writing_{0};
};

} // namespace sessionq::processor
