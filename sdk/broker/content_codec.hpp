#pragma once

#include <string>
#include <string_view>

#include <sessionq/message_content.hpp>

#include "core/result.hpp"

namespace sessionq::broker {

/// Turns contents into bytes that outlive the process, and back. Thread-safe.
class ContentCodec {
public:
    virtual ~ContentCodec() = default;

    /// Valid as long as both the content and `scratch`, which it may use, are left alone.
    [[nodiscard]] virtual std::string_view encode(const MessageContent& content, std::string& scratch) const = 0;

    /// Fails with protocol_error where the bytes are none of `encode`'s.
    [[nodiscard]] virtual core::Result<MessageContentPtr> decode(std::string bytes) const = 0;
};

} // namespace sessionq::broker
