// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <sessionq/message.hpp>

namespace sessionq::core {

/// The bytes of its texts, properties and body, without the bytes that an encoding adds.
[[nodiscard]] std::size_t size_of(const Message& message) noexcept;

/// The number of values in a body that is a value or a sequence, also in lists and maps within it.
/// Each has bytes that an encoding adds. Zero for bytes.
[[nodiscard]] std::size_t values_in(const Message& message) noexcept;
[[nodiscard]] std::size_t size_of(const Properties& properties) noexcept;

} // namespace sessionq::core
