// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace sessionq::amqp {

/// An extension of Service Bus's `com.microsoft:peek-message`: a peek that waits for a message.
///
/// A broker that can wait has this name, with the value true, in the properties of its open. A
/// client then adds an application property of this name to a peek: how many milliseconds the
/// broker may wait if there is no message to show. The broker answers once there is one, or when
/// the time is over, or earlier if it cannot keep the request. An answer without a message is the
/// usual one. Other brokers neither offer this nor see the property.
inline constexpr std::string_view peek_wait = "com.sessionq:peek-wait";

} // namespace sessionq::amqp
