// SPDX-License-Identifier: MIT
#include "broker/message_rank.hpp"

#include <cmath>
#include <optional>
#include <tuple>
#include <type_traits>
#include <variant>

#include "core/utf8.hpp"

namespace sessionq::broker {

// Before its uses: clang instantiates it only there.
template <typename Number>
MessageRank MessageRank::of_number(Number value) noexcept {
    MessageRank rank;
    const auto nearest = static_cast<double>(value);
    if (std::isnan(nearest)) {
        return rank;
    }
    rank.kind_ = Kind::number;
    rank.number_ = nearest;
    if constexpr (std::is_integral_v<Number>) {
        rank.remainder_ = static_cast<double>(static_cast<long double>(value) -
                                              static_cast<long double>(nearest));
    }
    return rank;
}

MessageRank MessageRank::of(const MessageContent& message, const QueueOptions& options) {
    if (options.order == MessageOrder::priority) {
        return of_number(-static_cast<std::int64_t>(message.priority())); // the highest first
    }
    if (options.order == MessageOrder::property) {
        const std::optional<Message> outline = message.outline();
        if (!outline) {
            return {};
        }
        const auto found = outline->properties.find(options.order_property);
        return found == outline->properties.end() ? MessageRank{} : of(found->second);
    }
    return {};
}

MessageRank MessageRank::of(const PropertyValue& value) {
    return std::visit(
        [](const auto& held) -> MessageRank {
            using Held = std::remove_cvref_t<decltype(held)>;
            MessageRank rank;
            if constexpr (std::is_same_v<Held, std::int64_t> ||
                          std::is_same_v<Held, std::uint64_t> || std::is_same_v<Held, double>) {
                return of_number(held);
            } else if constexpr (std::is_same_v<Held, Decimal>) {
                return of_number(held.to_double());
            } else if constexpr (std::is_same_v<Held, TimeSpan>) {
                return of_number(held.count());
            } else if constexpr (std::is_same_v<Held, std::string>) {
                rank.kind_ = Kind::text;
                rank.text_ = held;
            } else if constexpr (std::is_same_v<Held, Uuid>) {
                rank.kind_ = Kind::text;
                rank.text_ = held.to_string();
            } else if constexpr (std::is_same_v<Held, Uri>) {
                rank.kind_ = Kind::text;
                rank.text_ = held.text;
            } else if constexpr (std::is_same_v<Held, char32_t>) {
                rank.kind_ = Kind::text;
                rank.text_ = core::utf8_of(held);
            } else if constexpr (std::is_same_v<Held, WallTime>) {
                rank.kind_ = Kind::time;
                rank.time_ = held;
            } else if constexpr (std::is_same_v<Held, FarTime>) {
                rank.kind_ = Kind::time;
                rank.time_ = held.since.count() > 0 ? WallTime::max() : WallTime::min();
            } else if constexpr (std::is_same_v<Held, DateTimeOffset>) {
                constexpr DateTimeOffset first_far{TimeSpan{693'961'344'000'000'000}}; // of 2200
                rank.kind_ = Kind::time;
                rank.time_ =
                    held.time().value_or(held > first_far ? WallTime::max() : WallTime::min());
            }
            return rank;
        },
        value);
}

bool operator<(const MessageRank& a, const MessageRank& b) noexcept {
    return std::tie(a.kind_, a.number_, a.remainder_, a.text_, a.time_) <
           std::tie(b.kind_, b.number_, b.remainder_, b.text_, b.time_);
}

} // namespace sessionq::broker
