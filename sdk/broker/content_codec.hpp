#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sessionq/message_content.hpp>
#include <sessionq/rule.hpp>

#include "core/result.hpp"

namespace sessionq::broker {

/// Turns what messages say, and the rules of subscriptions, into bytes that outlive the process,
/// and back. Thread-safe.
class ContentCodec {
public:
    virtual ~ContentCodec() = default;

    /// Valid as long as both the content and `scratch`, which it may use, are left alone.
    [[nodiscard]] virtual std::string_view encode(const MessageContent& content,
                                                  std::string& scratch) const = 0;

    /// Fails with protocol_error where the bytes are none of `encode`'s.
    [[nodiscard]] virtual core::Result<MessageContentPtr> decode(std::string_view bytes) const = 0;

    [[nodiscard]] virtual std::string encode_rules(const std::vector<Rule>& rules) const = 0;
    /// Fails as `decode` does.
    [[nodiscard]] virtual core::Result<std::vector<Rule>> decode_rules(
        std::string_view bytes) const = 0;
};

} // namespace sessionq::broker
