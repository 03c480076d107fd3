// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <sessionq/message.hpp>

namespace sessionq::core {

/// The bytes of its texts, properties and body, without the bytes that an encoding adds.
[[nodiscard]] std::size_t size_of(const Message& message) noexcept;
[[nodiscard]] std::size_t size_of(const Properties& properties) noexcept;

} // namespace sessionq::core
