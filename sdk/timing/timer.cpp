// SPDX-License-Identifier: MIT
#include "timing/timer.hpp"

#include "timing/timer_wheel.hpp"

namespace sessionq::timing {

Timer::~Timer() {
    if (wheel_ != nullptr) {
        wheel_->cancel(*this);
    }
}

} // namespace sessionq::timing
