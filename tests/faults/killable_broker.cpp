// SPDX-License-Identifier: MIT
#include "faults/killable_broker.hpp"

#include <stdexcept>

#include "core/clock.hpp"
#include "core/random.hpp"

namespace sessionq::faults {

// The first start chooses a free port below the range for outgoing connections. Otherwise a client
// that connects while the broker is down could connect to itself. Later starts reuse the port.
void KillableBroker::start() {
    core::Random random{
        static_cast<std::uint64_t>(core::system_clock().now().time_since_epoch().count())};
    for (int tries = 0;; ++tries) {
        const auto port =
            port_ != 0 ? port_ : static_cast<std::uint16_t>(20'000 + random.below(12'000));
        std::vector<std::string> all{"--listen", "127.0.0.1:" + std::to_string(port)};
        all.insert(all.end(), arguments_.begin(), arguments_.end());
        try {
            daemon_ = std::make_unique<test::DaemonProcess>(program_, all);
            port_ = port;
            return;
        } catch (const std::runtime_error&) {
            if (tries == 10) {
                throw;
            }
        }
    }
}

} // namespace sessionq::faults
