// SPDX-License-Identifier: MIT
#include "broker/queue_options.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::broker {
namespace {

using namespace std::chrono_literals;

Failure out_of_range(const char* member, const char* range) {
    return {.code = Errc::invalid_option, .detail = std::string{member} + " must be " + range};
}

} // namespace

std::optional<Failure> find_fault(const QueueOptions& options) {
    if (options.lock_duration <= Duration::zero() || options.lock_duration > 5min) {
        return out_of_range("lock_duration", "above zero and at most 5 minutes");
    }
    if (options.max_delivery_count == 0) {
        return out_of_range("max_delivery_count", "at least 1");
    }
    if (options.default_time_to_live && *options.default_time_to_live <= 0ms) {
        return out_of_range("default_time_to_live", "above zero");
    }
    if (options.max_message_bytes == 0) {
        return out_of_range("max_message_bytes", "above zero");
    }
    if (options.duplicate_detection_window &&
        (*options.duplicate_detection_window <= Duration::zero() ||
         *options.duplicate_detection_window > std::chrono::hours{24 * 7})) {
        return out_of_range("duplicate_detection_window", "above zero and at most 7 days");
    }
    for (const auto& [member, name] :
         {std::pair{"forward_to", &options.forward_to},
          {"forward_dead_letters_to", &options.forward_dead_letters_to},
          {"order_property", &options.order_property}}) {
        if (std::ranges::any_of(*name, [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
            return out_of_range(member, "a name without control characters");
        }
    }
    if (options.requires_session && !options.forward_to.empty()) {
        return out_of_range("forward_to", "empty if requires_session is set");
    }
    if (options.requires_session && options.order != MessageOrder::arrival) {
        return out_of_range("order", "arrival if requires_session is set");
    }
    const bool by_property = options.order == MessageOrder::property;
    if (options.order_property.empty() == by_property) {
        return out_of_range("order_property", by_property ? "the name of a property"
                                                          : "empty unless order is property");
    }
    return std::nullopt;
}

} // namespace sessionq::broker
