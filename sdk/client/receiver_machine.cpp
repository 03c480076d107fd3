#include "client/receiver_machine.hpp"

namespace sessionq::client {

ReceiverActions ReceiverMachine::close(TimePoint now, bool draining) noexcept {
    if (phase_ != Phase::open) {
        return {};
    }
    phase_ = draining ? Phase::draining : Phase::detaching;
    close_by_ = now + close_timeout;
    return {.refuse = true, .detach = !draining};
}

ReceiverActions ReceiverMachine::drained() noexcept {
    if (phase_ != Phase::draining) {
        return {};
    }
    phase_ = Phase::detaching;
    return {.detach = true};
}

ReceiverActions ReceiverMachine::detached() noexcept {
    return phase_ == Phase::detaching ? end() : ReceiverActions{};
}

ReceiverActions ReceiverMachine::lost() noexcept {
    return phase_ == Phase::ended ? ReceiverActions{} : end();
}

ReceiverActions ReceiverMachine::look(TimePoint now) noexcept {
    return now >= close_by_ ? end() : ReceiverActions{};
}

ReceiverActions ReceiverMachine::end() noexcept {
    const bool refuse = phase_ == Phase::open;
    phase_ = Phase::ended;
    close_by_ = TimePoint::max();
    return {.refuse = refuse, .end = true};
}

} // namespace sessionq::client
