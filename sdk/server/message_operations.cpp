// SPDX-License-Identifier: MIT
#include "server/message_operations.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/peek_wait.hpp"
#include "broker/stored_message.hpp"
#include "server/fetched_messages.hpp"
#include "server/management_answer.hpp"
#include "server/request_fields.hpp"
#include "server/settlement.hpp"
#include "server/transfer.hpp"

namespace sessionq::server::message_operations {
namespace {

constexpr std::uint32_t most_peeked = 250;
constexpr std::int64_t longest_wait = 24 * 3'600'000; // milliseconds
// The bytes of a settlement beside changes: lock tokens, most of all.
constexpr std::size_t beside_changes = std::size_t{256} << 10U;
constexpr std::size_t most_peeked_bytes = std::size_t{1} << 20U;
constexpr std::size_t fewest_peeked_bytes = std::size_t{1} << 10U;

/// One message may end the waits of a hundred peeks, whose answers are all on their way then. So an
/// answer takes no more than a part of the memory that is left. On its way it takes up to four
/// times as much.
std::size_t bytes_of_peek(const Peer& peer) {
    constexpr std::size_t share = 64;
    const std::size_t all = peer.limits.memory.all;
    return std::clamp((all - std::min(all, peer.memory.all())) / share, fewest_peeked_bytes,
                      most_peeked_bytes);
}

std::optional<broker::Outcome> outcome_of(std::string_view status) noexcept {
    if (status == "completed") {
        return broker::Outcome::complete;
    }
    if (status == "abandoned") {
        return broker::Outcome::abandon;
    }
    if (status == "defered" || status == "deferred") { // Service Bus spells it with one r
        return broker::Outcome::defer;
    }
    if (status == "suspended") {
        return broker::Outcome::dead_letter;
    }
    return std::nullopt;
}

/// The session that the request is limited to, by its id or by the link that holds it. Unset: all.
std::optional<std::string> session_of(const ManagedEntity& entity, const Request& request) {
    if (const auto named = read_text(request.body, "session-id")) {
        return std::string{*named};
    }
    const Holder* const holder = entity.held_session(request);
    return holder != nullptr ? std::optional{holder->consumer->session_id} : std::nullopt;
}

/// Each message gets a copy of its own of the changes.
std::size_t tokens_at_once(const Request& request, const Limits& limits) {
    constexpr std::size_t bytes_at_once = std::size_t{1} << 20U;
    return std::clamp<std::size_t>(bytes_at_once / std::max<std::size_t>(request.bytes, 1), 1,
                                   limits.decoded_at_once);
}

Answer go_on(const ManagedEntity& entity, std::shared_ptr<FetchedMessages> fetched) {
    if (!fetched->go_on(entity.peer.limits.decoded_at_once, entity.peer.now())) {
        return {.progress = Progress{.fetched = std::move(fetched)}};
    }
    Answer answer = ok();
    answer.encoded_body = std::move(*fetched).take();
    return answer;
}

} // namespace

Answer renew_lock(const ManagedEntity& entity, const Request& request) {
    const auto tokens = read_lock_tokens(request.body);
    if (!tokens) {
        return lacks("lock-tokens");
    }
    const broker::Instant now = entity.peer.now();
    std::vector<amqp::Value> expirations;
    for (const LockToken& token : *tokens) {
        const auto consumer = entity.peer.locks.of_token(*entity.queue, token.holder);
        if (consumer == nullptr) {
            return message_lock_lost();
        }
        const auto until = entity.queue->renew_message(*consumer, token.token, now);
        if (!until) {
            return refuse(until.failure());
        }
        expirations.emplace_back(amqp::Timestamp::of(wall_time(until.value(), now)));
    }
    return ok(amqp::Value::map({{"expirations", amqp::Array{.element = timestamp_code,
                                                            .items = std::move(expirations)}}}));
}

Answer peek(const ManagedEntity& entity, const Request& request) {
    const auto from = read_number(request.body, "from-sequence-number");
    const auto count = read_number(request.body, "message-count");
    if (!from || !count || *count < 0) {
        return lacks(!from ? "from-sequence-number" : "message-count");
    }
    std::optional<std::string> session_id = session_of(entity, request);
    const auto most = static_cast<std::uint32_t>(std::min<std::int64_t>(*count, most_peeked));
    amqp::List messages;
    std::size_t bytes = 0;
    const broker::Instant now = entity.peer.now();
    const broker::Peeked peeked = entity.queue->peek_some(
        std::max(*from, request.progress ? request.progress->searched_to : *from), most, session_id,
        now);
    if (peeked.messages.empty() && !peeked.is_complete) {
        return {.progress = Progress{.searched_to = peeked.searched_to}};
    }
    const std::size_t most_bytes = bytes_of_peek(entity.peer);
    for (const ReceivedMessage& message : peeked.messages) {
        bytes +=
            message.shared_content()->bytes() + broker::bytes_of(message.facts().dead_letter.get());
        if (bytes > most_bytes && !messages.empty()) {
            break; // the client asks again from there
        }
        messages.push_back(
            amqp::Value::map({{"message", amqp::Binary{amqp::encode_delivery(
                                              *message.shared_content(), {.facts = message.facts()},
                                              {.now = now.now, .wall = now.wall})}}}));
    }
    if (!messages.empty()) {
        return ok(amqp::Value::map({{"messages", std::move(messages)}}));
    }
    Answer none = no_content();
    const auto wait = read_number(request.properties, amqp::peek_wait);
    if (most > 0 && wait && *wait > 0) { // without room no message would end the wait
        none.hold = {.queue = entity.queue,
                     .spec = {.from = std::max(*from, peeked.searched_to),
                              .session_id = std::move(session_id)},
                     .wait = std::min<Duration>(
                         entity.peer.limits.held_time,
                         std::chrono::milliseconds{std::min<std::int64_t>(*wait, longest_wait)})};
    }
    return none;
}

Answer schedule(const ManagedEntity& entity, const Request& request) {
    const amqp::Value* const list = request.body.find("messages");
    const amqp::List* const items = list != nullptr ? list->items() : nullptr;
    if (items == nullptr) {
        return lacks("messages");
    }
    const Limits& limits = entity.peer.limits;
    const broker::Instant now = entity.peer.now();
    auto decoded = request.progress ? request.progress->decoded
                                    : std::make_shared<std::vector<MessageContentPtr>>();
    const std::size_t end = std::min(items->size(), decoded->size() + limits.decoded_at_once);
    const bool has_decoded = decoded->size() < end;
    while (decoded->size() < end) {
        const amqp::Value* const item = (*items)[decoded->size()].find("message");
        const auto encoded = item != nullptr ? item->bytes() : std::nullopt;
        if (!encoded) {
            return lacks("messages");
        }
        auto message = decode_message(*encoded, now, limits);
        if (!message) {
            return refuse(message.failure());
        }
        decoded->push_back(std::move(message).value());
    }
    if (has_decoded && items->size() > limits.decoded_at_once) { // sending takes a turn of its own
        return {.progress = Progress{.decoded = std::move(decoded)}};
    }
    const auto sent = entity.queue->send(std::move(*decoded), now);
    if (!sent) {
        entity.peer.refused(sent.failure());
        return refuse(sent.failure());
    }
    return ok(amqp::Value::map(
        {{"sequence-numbers", amqp::Array{.element = long_code,
                                          .items = {sent.value().begin(), sent.value().end()}}}}));
}

Answer cancel_scheduled(const ManagedEntity& entity, const Request& request) {
    const auto sequences = read_sequences(request.body);
    if (!sequences) {
        return lacks("sequence-numbers");
    }
    const auto cancelled = entity.queue->cancel_scheduled(*sequences, entity.peer.now());
    return cancelled ? ok() : refuse(cancelled.failure());
}

Answer receive_by_sequence(const ManagedEntity& entity, const Request& request) {
    if (request.progress) {
        return go_on(entity, request.progress->fetched);
    }
    const auto sequences = read_sequences(request.body);
    if (!sequences) {
        return lacks("sequence-numbers");
    }
    const broker::Instant now = entity.peer.now();
    const Holder* holder = entity.held_session(request);
    if (holder == nullptr && entity.queue->options().requires_session) {
        return session_lock_lost();
    }
    if (holder == nullptr) {
        const auto unlinked = entity.peer.locks.unlinked(entity.queue, now);
        if (!unlinked) {
            return refuse(unlinked.failure());
        }
        holder = unlinked.value();
    }
    std::vector<broker::Delivered> received;
    if (const auto done = entity.queue->receive_deferred(*holder->consumer, *sequences, received,
                                                         now, entity.peer.limits.answered_bytes);
        !done) {
        return refuse(done.failure(), LockKind::session);
    }
    using Delete = FetchedMessages::Delete;
    const bool is_deleted = holder->consumer->mode == broker::ReceiveMode::receive_and_delete;
    const bool is_to_delete = read_number(request.body, "receiver-settle-mode") == 0;
    return go_on(entity, std::make_shared<FetchedMessages>(*holder, std::move(received),
                                                           is_deleted     ? Delete::when_fetched
                                                           : is_to_delete ? Delete::with_the_answer
                                                                          : Delete::no,
                                                           now));
}

Answer batch_delete(const ManagedEntity& entity, const Request& request) {
    const auto wanted = read_number(request.body, "message-count");
    const auto before = read_number(request.body, "enqueued-time-utc");
    if (!wanted || !before) {
        return lacks(!wanted ? "message-count" : "enqueued-time-utc");
    }
    if (*wanted < 1 || *wanted > broker::most_deleted) {
        return refuse(400, condition::argument_error,
                      "message-count must be 1 to " + std::to_string(broker::most_deleted) +
                          "; it is " + std::to_string(*wanted));
    }
    const auto most = static_cast<std::uint32_t>(*wanted);
    broker::DeleteSpec rest{.max = most, .enqueued_before = amqp::Timestamp{*before}.time()};
    if (request.progress) {
        rest = *request.progress->to_delete;
    } else {
        rest.session_id = session_of(entity, request);
        if (!rest.session_id && entity.queue->options().requires_session &&
            !request.text("associated-link-name").empty()) {
            return session_lock_lost(); // it does not mean all sessions
        }
    }
    const auto deleted = entity.queue->delete_some(rest, entity.peer.now());
    if (!deleted && rest.max == most) {
        return refuse(deleted.failure());
    }
    if (deleted) {
        rest.max -= deleted.value().count;
        rest.from = deleted.value().searched_to;
        if (!deleted.value().is_complete) {
            return {.progress = Progress{.to_delete = std::move(rest)}};
        }
    }
    const auto count = static_cast<std::int32_t>(most - rest.max);
    return count == 0 ? no_content() : ok(amqp::Value::map({{"message-count", count}}));
}

Answer update_disposition(const ManagedEntity& entity, const Request& request) {
    const auto tokens = read_lock_tokens(request.body);
    const auto status = read_text(request.body, "disposition-status");
    const auto outcome = status ? outcome_of(*status) : std::nullopt;
    if (!tokens || !outcome) {
        return lacks(!tokens ? "lock-tokens" : "disposition-status");
    }
    // Not even decoded: no message could take so much.
    if (request.bytes > entity.queue->options().max_message_bytes + beside_changes) {
        return refuse({.code = Errc::message_too_large,
                       .detail = "the changes are larger than a message may be"});
    }
    broker::Changes changes;
    if (const amqp::Value* properties = request.body.find("properties-to-modify")) {
        read_changes(*properties, changes);
    }
    set_reasons(changes, read_text(request.body, "deadletter-reason").value_or(""),
                read_text(request.body, "deadletter-description").value_or(""), true);
    // Java's client then opens the session again, which it does not for a lost message.
    const bool in_session =
        entity.queue->options().requires_session && read_text(request.body, "session-id");
    if (in_session && entity.held_session(request) == nullptr) {
        return session_lock_lost();
    }
    const std::size_t first = request.progress ? request.progress->settled : 0;
    const std::size_t end =
        std::min(tokens->size(), first + (changes.properties.empty()
                                              ? entity.peer.limits.decoded_at_once
                                              : tokens_at_once(request, entity.peer.limits)));
    for (const LockToken& token : std::span{*tokens}.subspan(first, end - first)) {
        const auto consumer = entity.peer.locks.of_token(*entity.queue, token.holder);
        if (consumer == nullptr) {
            return message_lock_lost();
        }
        broker::SettleOrder order{.token = token.token, .outcome = *outcome, .changes = &changes};
        entity.queue->settle(*consumer, std::span{&order, 1}, entity.peer.now());
        if (in_session && order.failed_with == Errc::lock_lost) {
            return session_lock_lost();
        }
        if (order.failed_with) {
            return refuse({.code = *order.failed_with});
        }
    }
    if (end < tokens->size()) {
        return {.progress = Progress{.settled = end}};
    }
    return ok();
}

} // namespace sessionq::server::message_operations
