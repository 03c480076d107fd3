// SPDX-License-Identifier: MIT
#include "broker/store/row_decoder.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "broker/store/options_text.hpp"
#include "broker/store/origin_text.hpp"
#include "broker/store/wall_nanoseconds.hpp"

namespace sessionq::broker {
namespace {

Failure invalid(std::string why) {
    return {.code = Errc::protocol_error, .detail = std::move(why)};
}

bool is_id(std::int64_t number) noexcept {
    return number > 0 && number <= std::int64_t{std::numeric_limits<EntityId>::max()};
}

/// Reads numbers, each followed by a space.
std::vector<EntityId> read_ids(std::string_view text) {
    std::vector<EntityId> ids;
    while (!text.empty()) {
        EntityId id = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
        if (error != std::errc{}) {
            break;
        }
        ids.push_back(id);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        text.remove_prefix(text.empty() ? 0 : 1);
    }
    return ids;
}

} // namespace

core::Result<DurableQueue> decode(const QueueRow& row, const ContentCodec& codec) {
    if (row.kind < 0 || row.kind > static_cast<std::int64_t>(EntityKind::subscription)) {
        return invalid("unknown kind");
    }
    if (!is_id(row.id) || !is_id(row.dead_letters)) {
        return invalid("its id is out of range");
    }
    auto options = read_options(row.options);
    auto declared_rules = codec.decode_rules(row.declared_rules.bytes);
    auto rules = codec.decode_rules(row.rules.bytes);
    if (!options || !declared_rules || !rules) {
        return !options ? options.failure() : !rules ? rules.failure() : declared_rules.failure();
    }
    return DurableQueue{.name = std::string{row.name},
                        .kind = static_cast<EntityKind>(row.kind),
                        .options = std::move(options).value(),
                        .declared_rules = std::move(declared_rules).value(),
                        .rules = std::move(rules).value(),
                        .queue = {.id = static_cast<EntityId>(row.id)},
                        .dead_letters = {.id = static_cast<EntityId>(row.dead_letters)}};
}

core::Result<DurableMessage> decode(const MessageRow& row, const ContentCodec& codec) {
    if (row.place < 0 || row.place > static_cast<std::int64_t>(MessageState::scheduled)) {
        return invalid("unknown state");
    }
    std::string_view passed_to = row.passed_to;
    const OriginText origin = OriginText::read(passed_to);
    DurableMessage message{.entity = static_cast<EntityId>(row.entity),
                           .sequence = row.sequence,
                           .place = static_cast<MessageState>(row.place),
                           .delivery_count = static_cast<std::uint32_t>(row.delivery_count),
                           .enqueued_time = wall_of(row.enqueued),
                           .first_sequence = origin.first_sequence,
                           .forwarded_to = read_ids(passed_to)};
    if (row.time_to_live) {
        message.time_to_live = std::chrono::milliseconds{*row.time_to_live};
    }
    if (row.reason) {
        message.dead_letter = std::make_shared<const DeadLetterInfo>(
            DeadLetterInfo{.reason = std::string{*row.reason},
                           .description = std::string{row.description.value_or("")},
                           .source = std::string{origin.source}});
    }
    if (row.content.shared != 0) {
        return message;
    }
    auto content = codec.decode(row.content.bytes, message.enqueued_time);
    if (!content) {
        return content.failure();
    }
    message.content = std::move(content).value();
    return message;
}

core::Result<MessageContentPtr> decode(const ContentRow& row, const ContentCodec& codec) {
    return codec.decode(row.bytes.bytes, wall_of(row.enqueued));
}

core::Result<SessionStateSet> decode(const SessionStateRow& row, const ContentCodec& /*codec*/) {
    return SessionStateSet{.entity = static_cast<EntityId>(row.entity),
                           .session_id = std::string{row.session_id},
                           .state = std::string{row.state.bytes}};
}

core::Result<MessageIdTaken> decode(const TakenIdRow& row, const ContentCodec& /*codec*/) {
    return MessageIdTaken{.entity = static_cast<EntityId>(row.entity),
                          .message_id = std::string{row.message_id},
                          .sequence = row.sequence,
                          .until = wall_of(row.until)};
}

core::Result<EntityRow> decode(const EntityRow& row, const ContentCodec& /*codec*/) { return row; }

} // namespace sessionq::broker
