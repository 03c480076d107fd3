// SPDX-License-Identifier: MIT
#include "servicebus/first_credit_trial.hpp"

#include <string_view>

namespace sessionq::detail::servicebus {
namespace {

/// Brokers answer an accept with these conditions, with or without credit behind it.
bool is_about_session(std::string_view name) noexcept {
    return name.starts_with("com.microsoft:") || name == "amqp:not-found" ||
           name == "amqp:unauthorized-access" || name == "amqp:resource-limit-exceeded" ||
           name == "amqp:resource-locked";
}

/// Links and connections end with these conditions for reasons of the broker's own.
bool is_about_broker(std::string_view name) noexcept {
    return name.empty() || name == "amqp:connection:forced" || name == "amqp:link:detach-forced" ||
           name == "amqp:link:redirect" || name == "amqp:connection:redirect";
}

} // namespace

bool FirstCreditTrial::ended(const amqp::Condition& why, TimePoint asked, TimePoint now) noexcept {
    if (answer_ != Answer::unknown || (!why.found && is_about_session(why.name))) {
        return false;
    }
    if (!why.found && !is_about_broker(why.name)) {
        return true;
    }
    if (asked >= last_loss_) { // else it ended with the connection that is counted
        last_loss_ = now;
        answer_ = ++losses_ == most_losses ? Answer::refused : answer_;
    }
    return false;
}

} // namespace sessionq::detail::servicebus
