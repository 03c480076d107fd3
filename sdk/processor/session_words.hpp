// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "processor/message_book.hpp"
#include "processor/slot_words.hpp"

namespace sessionq::processor {

/// Where a session stands and what it waits for, for people.
[[nodiscard]] SlotWords words_of(const SessionState& session, const MessageBook& book,
                                 std::uint32_t in_flight) noexcept;

} // namespace sessionq::processor
