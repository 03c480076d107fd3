// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "amqp/codec/encoded_content.hpp"
#include "core/result.hpp"

namespace sessionq::amqp {

/// The parts of a message that differ when it is sent again. Values are encoded.
struct ResentChanges {
    std::string message_id{};
    /// Application properties to add or replace.
    std::vector<std::pair<std::string_view, std::string>> properties{};
};

/// Encodes a received message as a sender that sends it again. Everything is kept byte for byte,
/// except `changes` and the parts that belong to the delivery or the first send:
///
/// - the header's delivery-count, and the annotations that only brokers set;
/// - the reason and description of a dead letter, and the time left until the deadline;
/// - absolute-expiry-time, and with a time to live also creation-time: it begins anew at `now`. A
///   broker would drop a message whose expiry has passed.
///
/// Fails with protocol_error if a section that it changes is malformed.
[[nodiscard]] core::Result<std::string> encode_resent(const EncodedContent& received,
                                                      const ResentChanges& changes, WallTime now);

} // namespace sessionq::amqp
