// SPDX-License-Identifier: MIT
#include "servicebus/claim.hpp"

#include <algorithm>

namespace sessionq::detail::servicebus {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Duration longest_life = hours{24};
constexpr Duration life_by_other_clock = minutes{1};
constexpr Duration shortest_wait = std::chrono::seconds{1};

} // namespace

void Claim::granted(TimePoint now, Duration life) noexcept {
    const Duration lasts =
        life > Duration::zero() ? std::min(life, longest_life) : life_by_other_clock;
    backoff_.reset();
    valid_until_ = now + lasts;
    renew_at_ = now + std::max(lasts * 3 / 4, shortest_wait);
}

void Claim::failed(TimePoint now, core::Random& random) noexcept {
    if (!is_valid(now)) { // the next who needs it asks, after a wait of its own
        renew_at_ = TimePoint::max();
        return;
    }
    renew_at_ = now + backoff_.next(random);
}

void Claim::reject() noexcept {
    valid_until_ = TimePoint::min();
    renew_at_ = TimePoint::max();
}

} // namespace sessionq::detail::servicebus
