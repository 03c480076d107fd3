// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <sessionq/time.hpp>

namespace sessionq::processor {

/// Decides when the session's record is read and which delay is written into it, so that a delayed
/// retry (`retry_later`) survives its holder. `SessionMachine` asks it when a message comes that
/// was delivered before, and when a delay begins or ends. A session without such messages costs
/// nothing.
class RetryDelay {
public:
    enum class Reading : std::uint8_t {
        never, ///< the record must be read now
        asked, ///< the answer is awaited
        known,
    };

    /// A message came that was delivered before. Returns how far the reading is; `never` only once,
    /// because the caller reads the record then.
    [[nodiscard]] Reading examine() noexcept {
        return reading_ == Reading::never ? std::exchange(reading_, Reading::asked) : reading_;
    }
    void known() noexcept { reading_ = Reading::known; }

    /// Begins a delay: no message of the session is handled until `until`, or until a later instant
    /// that was given before. Returns the delay to write.
    [[nodiscard]] Duration begin(TimePoint until, TimePoint now) noexcept {
        ++writing_;
        until_ = std::max(until_, until);
        return until_ - now;
    }
    /// Ends the delay. Returns zero, to be written: that removes it from the record.
    [[nodiscard]] Duration end() noexcept {
        ++writing_;
        until_ = {};
        return Duration::zero();
    }
    /// The broker has answered a write.
    void written() noexcept { writing_ -= writing_ != 0 ? 1 : 0; }

    /// The broker has not confirmed a write. Until then the failed message stays here, and so does
    /// the session.
    [[nodiscard]] bool is_writing() const noexcept { return writing_ != 0; }

private:
    Reading reading_{Reading::never};
    TimePoint until_{}; ///< the end of the delay of messages that failed here
    std::uint32_t writing_{0};
};

} // namespace sessionq::processor
