#include <sessionq/message_content.hpp>

#include <string>
#include <type_traits>
#include <variant>

namespace sessionq {
namespace {

constexpr std::size_t fixed_cost = 64; // headers, numbers, times

std::size_t size_of(const PropertyValue& value) noexcept {
    return std::visit(
        [](const auto& held) -> std::size_t {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::string> || std::is_same_v<Held, std::vector<std::byte>>) {
                return held.size();
            } else {
                return sizeof(Held);
            }
        },
        value);
}

} // namespace

std::size_t DecodedContent::bytes() const noexcept {
    std::size_t bytes = fixed_cost + message_.body.size() + message_.message_id.size() + message_.subject.size() + message_.correlation_id.size() +
                        message_.reply_to.size() + message_.reply_to_session_id.size() + message_.to.size() + message_.content_type.size();
    if (message_.session_id) {
        bytes += message_.session_id->size();
    }
    for (const auto& [name, value] : message_.properties) {
        bytes += name.size() + size_of(value);
    }
    return bytes;
}

MessageContentPtr DecodedContent::with_properties(const Properties& properties) const {
    Message changed = message_;
    for (const auto& [name, value] : properties) {
        changed.properties.insert_or_assign(name, value);
    }
    return std::make_shared<DecodedContent>(std::move(changed));
}

} // namespace sessionq
