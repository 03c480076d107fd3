// SPDX-License-Identifier: MIT
#include "amqp/codec/value.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace sessionq::amqp {
namespace {

template <typename T>
inline constexpr bool is_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char32_t>;

} // namespace

Timestamp Timestamp::of(WallTime time) noexcept {
    if (is_beyond(time)) {
        constexpr std::int64_t beginning_of_year_1 = -62'135'596'800'000;
        constexpr std::int64_t end_of_year_9999 = 253'402'300'799'999;
        return {time == WallTime::max() ? end_of_year_9999 : beginning_of_year_1};
    }
    return {std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count()};
}

Timestamp Timestamp::later(WallTime from, std::chrono::milliseconds by) noexcept {
    return {of(from).milliseconds +
            std::min<std::int64_t>(by.count(), std::numeric_limits<std::int64_t>::max() / 4)};
}

WallTime Timestamp::time() const noexcept {
    using std::chrono::milliseconds;
    constexpr std::int64_t latest =
        std::chrono::floor<milliseconds>(WallTime::max().time_since_epoch()).count();
    constexpr std::int64_t earliest =
        std::chrono::ceil<milliseconds>(WallTime::min().time_since_epoch()).count();
    if (this->milliseconds < earliest || this->milliseconds > latest) {
        return this->milliseconds < earliest ? WallTime::min() : WallTime::max();
    }
    return WallTime{milliseconds{this->milliseconds}};
}

Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value Value::list(std::initializer_list<Value> items) { return Value{List{items}}; }

Value Value::map(std::initializer_list<std::pair<Value, Value>> entries) {
    return Value{Map{entries}};
}

Value Value::described(Value descriptor, Value value) {
    return Value{std::shared_ptr<const Described>{
        std::make_shared<Described>(Described{std::move(descriptor), std::move(value)})}};
}

std::optional<std::int64_t> Value::integer() const noexcept {
    return std::visit(
        [](const auto& held) -> std::optional<std::int64_t> {
            using Kind = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Kind, std::uint64_t>) {
                return held <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                           ? std::optional{static_cast<std::int64_t>(held)}
                           : std::nullopt;
            } else if constexpr (is_integer<Kind>) {
                return static_cast<std::int64_t>(held);
            } else if constexpr (std::is_same_v<Kind, Timestamp>) {
                return held.milliseconds;
            } else {
                return std::nullopt;
            }
        },
        held_);
}

std::optional<std::uint64_t> Value::unsigned_integer() const noexcept {
    if (const auto* wide = as<std::uint64_t>()) {
        return *wide;
    }
    const auto number = integer();
    return number && *number >= 0 ? std::optional{static_cast<std::uint64_t>(*number)}
                                  : std::nullopt;
}

std::optional<std::string_view> Value::text() const noexcept {
    if (const auto* string = as<std::string>()) {
        return *string;
    }
    if (const auto* symbol = as<Symbol>()) {
        return symbol->text;
    }
    return std::nullopt;
}

std::optional<std::string_view> Value::bytes() const noexcept {
    if (const auto* binary = as<Binary>()) {
        return binary->bytes;
    }
    return text();
}

const std::vector<Value>* Value::items() const noexcept {
    if (const auto* list = as<List>()) {
        return list;
    }
    const auto* array = as<Array>();
    return array != nullptr ? &array->items : nullptr;
}

const Described* Value::described() const noexcept {
    const auto* held = as<std::shared_ptr<const Described>>();
    return held != nullptr ? held->get() : nullptr;
}

const Value* Value::find(std::string_view key) const noexcept {
    const auto* map = as<Map>();
    if (map == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(map->begin(), map->end(),
                                    [key](const auto& entry) { return entry.first.text() == key; });
    return found != map->end() ? &found->second : nullptr;
}

std::string Value::to_string() const {
    const auto join = [](const std::vector<Value>& items) {
        std::string text;
        for (const Value& item : items) {
            text += (text.empty() ? "" : ", ") + item.to_string();
        }
        return text;
    };
    return std::visit(
        [&](const auto& held) -> std::string {
            using Kind = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Kind, std::monostate>) {
                return "null";
            } else if constexpr (std::is_same_v<Kind, bool>) {
                return held ? "true" : "false";
            } else if constexpr (std::is_same_v<Kind, char32_t>) {
                return "char " + std::to_string(static_cast<std::uint32_t>(held));
            } else if constexpr (std::is_arithmetic_v<Kind>) {
                return std::to_string(held);
            } else if constexpr (std::is_same_v<Kind, Timestamp>) {
                return "timestamp " + std::to_string(held.milliseconds);
            } else if constexpr (std::is_same_v<Kind, core::Uuid>) {
                return held.to_string();
            } else if constexpr (std::is_same_v<Kind, Decimal>) {
                return "decimal";
            } else if constexpr (std::is_same_v<Kind, Binary>) {
                return "binary of " + std::to_string(held.bytes.size());
            } else if constexpr (std::is_same_v<Kind, std::string>) {
                return '"' + held + '"';
            } else if constexpr (std::is_same_v<Kind, Symbol>) {
                return held.text;
            } else if constexpr (std::is_same_v<Kind, List>) {
                return '[' + join(held) + ']';
            } else if constexpr (std::is_same_v<Kind, Array>) {
                return "array[" + join(held.items) + ']';
            } else if constexpr (std::is_same_v<Kind, Map>) {
                std::string text;
                for (const auto& [key, mapped] : held) {
                    text +=
                        (text.empty() ? "" : ", ") + key.to_string() + ": " + mapped.to_string();
                }
                return '{' + text + '}';
            } else {
                return '@' + held->descriptor.to_string() + ' ' + held->value.to_string();
            }
        },
        held_);
}

bool operator==(const Value& left, const Value& right) {
    return left.held_.index() == right.held_.index() &&
           std::visit(
               [&right](const auto& held) {
                   using Kind = std::remove_cvref_t<decltype(held)>;
                   const auto& other = std::get<Kind>(right.held_);
                   if constexpr (std::is_same_v<Kind, std::shared_ptr<const Described>>) {
                       return held->descriptor == other->descriptor && held->value == other->value;
                   } else if constexpr (std::is_same_v<Kind, Array>) {
                       return held.element == other.element && held.items == other.items &&
                              (held.descriptor == nullptr) == (other.descriptor == nullptr) &&
                              (held.descriptor == nullptr || *held.descriptor == *other.descriptor);
                   } else {
                       return held == other;
                   }
               },
               left.held_);
}

} // namespace sessionq::amqp
