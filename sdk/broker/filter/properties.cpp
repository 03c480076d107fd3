// SPDX-License-Identifier: MIT
#include "broker/filter/properties.hpp"

#include <algorithm>
#include <array>

#include "core/ascii_case.hpp"

namespace sessionq::broker::filter {
namespace {

struct SystemProperty {
    std::string_view name;
    TextField field;
    std::string Message::*member; // null for the session id, which is optional
};

constexpr std::array<SystemProperty, 8> system_properties{{
    {"ContentType", TextField::content_type, &Message::content_type},
    {"CorrelationId", TextField::correlation_id, &Message::correlation_id},
    {"Label", TextField::subject, &Message::subject},
    {"MessageId", TextField::message_id, &Message::message_id},
    {"ReplyTo", TextField::reply_to, &Message::reply_to},
    {"ReplyToSessionId", TextField::reply_to_session_id, &Message::reply_to_session_id},
    {"SessionId", TextField::session_id, nullptr},
    {"To", TextField::to, &Message::to},
}};

const SystemProperty& system_property_of(TextField field) noexcept {
    return *std::ranges::find(system_properties, field, &SystemProperty::field);
}

} // namespace

std::optional<TextField> find_system_property(std::string_view name) noexcept {
    const auto* found =
        std::ranges::find_if(system_properties, [name](const SystemProperty& system) {
            return core::equal_ignoring_case(system.name, name);
        });
    return found == system_properties.end() ? std::nullopt : std::optional{found->field};
}

std::string list_system_properties() {
    std::string list;
    for (const SystemProperty& system : system_properties) {
        list += (list.empty() ? "" : ", ") + std::string{system.name};
    }
    return list;
}

std::optional<std::string_view> text_of(const Message& message, TextField field) noexcept {
    const SystemProperty& system = system_property_of(field);
    if (system.member == nullptr) {
        return message.session_id ? std::optional<std::string_view>{*message.session_id}
                                  : std::nullopt;
    }
    const std::string& text = message.*system.member;
    return text.empty() ? std::nullopt : std::optional<std::string_view>{text};
}

void set_text(Message& message, TextField field, std::optional<std::string> text) {
    const SystemProperty& system = system_property_of(field);
    if (system.member == nullptr) {
        message.session_id = std::move(text);
    } else {
        message.*system.member = std::move(text).value_or(std::string{});
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
    if (name.system) {
        const auto text = text_of(message, *name.system);
        return text ? Value{std::string{*text}} : Value{};
    }
    const auto found = find_property(message.properties, name.name);
    return found == message.properties.end() ? Value{} : found->second;
}

bool has(const Message& message, const PropertyName& name) noexcept {
    return name.system ? text_of(message, *name.system).has_value()
                       : find_property(message.properties, name.name) != message.properties.end();
}

} // namespace sessionq::broker::filter
