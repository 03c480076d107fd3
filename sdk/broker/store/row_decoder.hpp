// SPDX-License-Identifier: MIT
#pragma once

#include "broker/content_codec.hpp"
#include "broker/journal.hpp"
#include "broker/store/rows.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

// Decode sound rows. Fail with protocol_error if this sessionq cannot have written them.
[[nodiscard]] core::Result<DurableQueue> decode(const QueueRow& row, const ContentCodec& codec);
/// Without its content if the row refers to a shared one.
[[nodiscard]] core::Result<DurableMessage> decode(const MessageRow& row, const ContentCodec& codec);
[[nodiscard]] core::Result<MessageContentPtr> decode(const ContentRow& row,
                                                     const ContentCodec& codec);
[[nodiscard]] core::Result<SessionStateSet> decode(const SessionStateRow& row, const ContentCodec&);
[[nodiscard]] core::Result<MessageIdTaken> decode(const TakenIdRow& row, const ContentCodec&);
[[nodiscard]] core::Result<EntityRow> decode(const EntityRow& row, const ContentCodec&);

} // namespace sessionq::broker
