// SPDX-License-Identifier: MIT
#include "processor/driven_session.hpp"

#include "processor/session_driver.hpp"

namespace sessionq::processor {

const std::string& DrivenSession::session_id() const noexcept {
    return driver_.view().session_id();
}
const std::string& DrivenSession::entity() const noexcept { return driver_.view().entity(); }
Deadline DrivenSession::lock_expires() const noexcept { return driver_.view().lock_expires(); }
std::stop_token DrivenSession::stop_token() const noexcept { return driver_.view().stop_token(); }

void DrivenSession::release() noexcept {
    driver_.view().loop().post([weak = driver_.weak_from_this()] {
        if (const auto driver = weak.lock()) {
            driver->feed(&SessionMachine::leave, CloseReason::released);
        }
    });
}

dispatch::CoroutineHost& DrivenSession::coroutines() {
    return *driver_.view().shared().environment.coroutines;
}

} // namespace sessionq::processor
