#include "servicebus/claim.hpp"

#include <algorithm>

namespace sessionq::servicebus {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration longest_life = hours{24};
constexpr Duration life_by_other_clock = minutes{1};
constexpr Duration shortest_wait = seconds{1};
constexpr Duration longest_wait = seconds{30};

} // namespace

void Claim::granted(TimePoint now, Duration life) noexcept {
    const Duration lasts =
        life > Duration::zero() ? std::min(life, longest_life) : life_by_other_clock;
    failures_ = 0;
    valid_until_ = now + lasts;
    renew_at_ = now + std::max(lasts * 3 / 4, shortest_wait);
}

void Claim::failed(TimePoint now, core::Random& random) noexcept {
    if (!is_valid(now)) { // the next who needs it asks, after a wait of its own
        renew_at_ = TimePoint::max();
        return;
    }
    const Duration full = std::min<Duration>(
        shortest_wait * (std::int64_t{1} << std::min(failures_++, 10U)), longest_wait);
    renew_at_ = now + full / 2 +
                Duration{static_cast<Duration::rep>(random.fraction() *
                                                    static_cast<double>(full.count()) / 2)};
}

void Claim::reject() noexcept {
    valid_until_ = TimePoint::min();
    renew_at_ = TimePoint::max();
}

} // namespace sessionq::servicebus
