// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace sessionq::broker {

/// XXH64: a fast 64-bit hash that notices accidental damage. It is no protection against a writer
/// who wants to deceive. The same on every machine, so it may be stored.
[[nodiscard]] std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) noexcept;

} // namespace sessionq::broker
