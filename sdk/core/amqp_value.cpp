// SPDX-License-Identifier: MIT
#include <sessionq/amqp_value.hpp>

#include <ostream>

namespace sessionq::inline v1 {

AmqpValue::AmqpValue() noexcept = default;
AmqpValue::AmqpValue(const AmqpValue& other) = default;
AmqpValue::AmqpValue(AmqpValue&& other) noexcept = default;
AmqpValue& AmqpValue::operator=(const AmqpValue& other) = default;
AmqpValue& AmqpValue::operator=(AmqpValue&& other) noexcept = default;
AmqpValue::~AmqpValue() = default;

AmqpValue::AmqpValue(AmqpList list) noexcept : held_{std::move(list)} {}
AmqpValue::AmqpValue(AmqpMap map) noexcept : held_{std::move(map)} {}
AmqpValue::AmqpValue(Scalar /*tag*/, PropertyValue&& scalar) noexcept : held_{std::move(scalar)} {}

bool AmqpValue::is_null() const noexcept {
    const PropertyValue* const held = scalar();
    return held != nullptr && held->type() == ValueType::null;
}

const PropertyValue* AmqpValue::scalar() const noexcept {
    return std::get_if<PropertyValue>(&held_);
}

const AmqpList* AmqpValue::list() const noexcept { return std::get_if<AmqpList>(&held_); }

const AmqpMap* AmqpValue::map() const noexcept { return std::get_if<AmqpMap>(&held_); }

const AmqpValue* AmqpValue::find(std::string_view key) const noexcept {
    if (const AmqpMap* const entries = map()) {
        for (const auto& [name, value] : *entries) {
            const PropertyValue* const held = name.scalar();
            const auto* const text = held != nullptr ? std::get_if<std::string>(held) : nullptr;
            if (text != nullptr && *text == key) {
                return &value;
            }
        }
    }
    return nullptr;
}

bool operator==(const AmqpValue& left, const AmqpValue& right) noexcept {
    return left.held_ == right.held_;
}

std::ostream& operator<<(std::ostream& out, const AmqpValue& value) {
    return out << value.to_string();
}

} // namespace sessionq::inline v1
