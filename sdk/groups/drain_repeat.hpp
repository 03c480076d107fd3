// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <utility>

#include <sessionq/time.hpp>

namespace sessionq::groups {

/// Decides how long a receiver link waits for the answer to its drain. A broker may overlook a
/// drain, so the drain is sent again every 300 ms. After 10 s without an answer, the link is
/// dropped.
///
/// Every receiver link has one, in its `ReceiverMachine` or `EntityLinkMachine`. The machine calls
/// `begin` for each drain, and maps the results to its own actions. `DrainRepeat` holds no timer:
/// `due` says when to call `repeat`.
class DrainRepeat {
public:
    static constexpr Duration patience = std::chrono::milliseconds{300};
    static constexpr Duration longest = std::chrono::seconds{10};

    /// The drain is sent.
    void begin(TimePoint now) noexcept {
        repeat_at_ = now + patience;
        give_up_at_ = now + longest;
    }
    /// The broker answered, or the link is gone. False: no drain was under way.
    bool end() noexcept { return std::exchange(repeat_at_, TimePoint::max()) != TimePoint::max(); }

    [[nodiscard]] bool is_under_way() const noexcept { return repeat_at_ != TimePoint::max(); }
    /// When to call `repeat`; TimePoint::max(): no drain is under way.
    [[nodiscard]] TimePoint due() const noexcept { return repeat_at_; }
    /// True: send the drain again. False: drop the link.
    [[nodiscard]] bool repeat(TimePoint now) noexcept {
        repeat_at_ = now + patience;
        return now < give_up_at_;
    }

private:
    TimePoint repeat_at_{TimePoint::max()};
    TimePoint give_up_at_{};
};

} // namespace sessionq::groups
