#include "server/session_filter.hpp"

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

namespace sessionq::server {
namespace {

constexpr std::string_view filter_name = "com.microsoft:session-filter";
constexpr std::string_view non_exclusive_name = "com.microsoft:non-exclusive-session-filter";

} // namespace

SessionFilter read_session_filter(std::string_view encoded) {
    SessionFilter filter;
    const auto map = encoded.empty() ? std::nullopt : amqp::decode(encoded);
    if (!map || map->is_null()) {
        return filter;
    }
    const amqp::Value* value = map->find(filter_name);
    if (value == nullptr) {
        filter.wish = map->find(non_exclusive_name) != nullptr ? SessionFilter::Wish::unreadable
                                                               : SessionFilter::Wish::none;
        return filter;
    }
    if (const amqp::Described* described = value->described()) {
        filter.descriptor = described->descriptor;
        value = &described->value;
    }
    if (value->is_null()) {
        filter.wish = SessionFilter::Wish::any;
    } else if (const auto id = value->text()) {
        filter.wish = SessionFilter::Wish::named;
        filter.id = *id;
    } else {
        filter.wish = SessionFilter::Wish::unreadable;
    }
    return filter;
}

std::string answer_session_filter(const SessionFilter& asked, std::string_view id) {
    amqp::Value value{id};
    if (!asked.descriptor.is_null()) {
        value = amqp::Value::described(asked.descriptor, std::move(value));
    }
    return amqp::encode(amqp::Value::map({{amqp::Value::symbol(filter_name), std::move(value)}}));
}

} // namespace sessionq::server
