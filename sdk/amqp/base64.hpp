// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace sessionq::amqp {

[[nodiscard]] std::string base64(std::string_view bytes);

} // namespace sessionq::amqp
