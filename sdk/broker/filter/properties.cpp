#include "broker/filter/properties.hpp"

#include <algorithm>
#include <array>

#include "core/ascii_case.hpp"

namespace sessionq::broker::filter {
namespace {

struct Own {
    std::string_view name;
    TextField field;
    std::string Message::*member; // null for the session id, which is optional
};

constexpr std::array<Own, 8> all_own{{
    {"ContentType", TextField::content_type, &Message::content_type},
    {"CorrelationId", TextField::correlation_id, &Message::correlation_id},
    {"Label", TextField::subject, &Message::subject},
    {"MessageId", TextField::message_id, &Message::message_id},
    {"ReplyTo", TextField::reply_to, &Message::reply_to},
    {"ReplyToSessionId", TextField::reply_to_session_id, &Message::reply_to_session_id},
    {"SessionId", TextField::session_id, nullptr},
    {"To", TextField::to, &Message::to},
}};

const Own& own_of(TextField field) noexcept {
    return *std::ranges::find(all_own, field, &Own::field);
}

} // namespace

std::optional<TextField> find_own(std::string_view name) noexcept {
    const auto* found = std::ranges::find_if(
        all_own, [name](const Own& own) { return core::equal_ignoring_case(own.name, name); });
    return found == all_own.end() ? std::nullopt : std::optional{found->field};
}

std::string list_own() {
    std::string list;
    for (const Own& own : all_own) {
        list += (list.empty() ? "" : ", ") + std::string{own.name};
    }
    return list;
}

std::optional<std::string_view> text_of(const Message& message, TextField field) noexcept {
    const Own& own = own_of(field);
    if (own.member == nullptr) {
        return message.session_id ? std::optional<std::string_view>{*message.session_id}
                                  : std::nullopt;
    }
    const std::string& text = message.*own.member;
    return text.empty() ? std::nullopt : std::optional<std::string_view>{text};
}

void set_text(Message& message, TextField field, std::optional<std::string> text) {
    const Own& own = own_of(field);
    if (own.member == nullptr) {
        message.session_id = std::move(text);
    } else {
        message.*own.member = std::move(text).value_or(std::string{});
    }
}

Properties::const_iterator find_property(const Properties& properties,
                                         std::string_view name) noexcept {
    const auto exact = properties.find(name);
    return exact != properties.end()
               ? exact
               : std::ranges::find_if(properties, [name](const auto& property) {
                     return core::equal_ignoring_case(property.first, name);
                 });
}

Value value_of(const Message& message, const PropertyName& name) {
    if (name.own) {
        const auto text = text_of(message, *name.own);
        return text ? Value{std::string{*text}} : Value{};
    }
    const auto found = find_property(message.properties, name.name);
    return found == message.properties.end() ? Value{} : found->second;
}

bool has(const Message& message, const PropertyName& name) noexcept {
    return name.own ? text_of(message, *name.own).has_value()
                    : find_property(message.properties, name.name) != message.properties.end();
}

} // namespace sessionq::broker::filter
