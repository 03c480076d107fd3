// SPDX-License-Identifier: MIT
#include "processor/session/session_record.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/byte_order.hpp"

namespace sessionq::detail::processor {
namespace {

using std::chrono::milliseconds;

// The encoding has a version, the instant `not_before` since the clock's origin, and the delay. The
// instant and the delay are in milliseconds. If there are attempts, the sequence number of their
// message and the number of attempts follow.
constexpr char version = 1;
constexpr std::size_t whole_length = 1 + 8 + 8;
constexpr std::size_t length_with_attempts = whole_length + 8 + 4;
constexpr std::int64_t longest_delay = milliseconds{std::chrono::years{1}}.count();

} // namespace

std::optional<Duration> SessionRecord::left(WallTime now) const noexcept {
    if (not_before == WallTime{}) {
        return std::nullopt;
    }
    if (not_before <= now) {
        return Duration::zero();
    }
    return std::min(delay, std::chrono::duration_cast<Duration>(not_before - now));
}

SessionRecord SessionRecord::read(std::string_view bytes) noexcept {
    if (bytes.size() < whole_length || bytes.front() != version) {
        return {};
    }
    const auto at = static_cast<std::int64_t>(core::number_at<8>(bytes.data() + 1));
    const auto delay = static_cast<std::int64_t>(core::number_at<8>(bytes.data() + 9));
    // Rejects later instants, because the wall clock's range ends less than a century after
    // `latest`.
    constexpr std::int64_t latest = milliseconds{std::chrono::years{200}}.count();
    if (at < 0 || at > latest || delay < 0 || delay > longest_delay) {
        return {};
    }
    SessionRecord record{.not_before = WallTime{milliseconds{at}}, .delay = milliseconds{delay}};
    if (bytes.size() >= length_with_attempts) {
        const char* const attempts = bytes.data() + whole_length;
        record.attempts = {.sequence = static_cast<std::int64_t>(core::number_at<8>(attempts)),
                           .begun = static_cast<std::uint32_t>(core::number_at<4>(attempts + 8))};
    }
    return record;
}

std::string SessionRecord::write() const {
    const bool has_attempts = attempts.begun != 0;
    if (not_before == WallTime{} && !has_attempts) {
        return {};
    }
    const auto in_milliseconds = [](auto length) {
        return static_cast<std::uint64_t>(std::chrono::ceil<milliseconds>(length).count());
    };
    std::string bytes(has_attempts ? length_with_attempts : whole_length, version);
    core::put_number<8>(bytes.data() + 1, in_milliseconds(not_before.time_since_epoch()));
    core::put_number<8>(bytes.data() + 9, in_milliseconds(delay));
    if (has_attempts) {
        char* const at = bytes.data() + whole_length;
        core::put_number<8>(at, static_cast<std::uint64_t>(attempts.sequence));
        core::put_number<4>(at + 8, attempts.begun);
    }
    return bytes;
}

} // namespace sessionq::detail::processor
