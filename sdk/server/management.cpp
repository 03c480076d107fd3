#include "server/management.hpp"

#include <algorithm>
#include <span>

#include "amqp/codec/message_codec.hpp"
#include "broker/rule_book.hpp"
#include "server/conditions.hpp"
#include "server/lock_token.hpp"
#include "server/rule_codec.hpp"
#include "server/settlement.hpp"
#include "server/transfer.hpp"

namespace sessionq::server {
namespace {

constexpr std::uint32_t most_peeked = 250;
constexpr std::size_t most_peeked_bytes = std::size_t{4} << 20U;

// In milliseconds: how clients say that sessions are wanted whenever their state was set.
constexpr std::int64_t end_of_time = 253'402'300'799'999;

// Constructor codes of array elements, in the widest form: every client reads it.
constexpr std::uint8_t long_code = 0x81;
constexpr std::uint8_t timestamp_code = 0x83;
constexpr std::uint8_t string_code = 0xb1;

Answer fail(std::int32_t status, std::string_view name, std::string_view text) {
    return {.status = status, .description = std::string{text}, .condition = std::string{name}};
}

Answer fail(const Failure& failure, LockKind lock = LockKind::message) {
    amqp::Condition condition = condition_of(failure, lock);
    return {.status = status_of(failure.code), .description = std::move(condition.text), .condition = std::move(condition.name)};
}

Answer lacks(std::string_view key) {
    return fail(400, condition::argument_error, "the request's body lacks '" + std::string{key} + "', or has it of another type");
}

Answer session_lock_lost() {
    return fail(410, condition::session_lock_lost,
                "The session lock has expired on the session, or this connection does not hold it. Accept the session again.");
}

Answer has_no_rules() { return fail(400, condition::not_allowed, "Only a subscription has rules."); }

Answer no_content() { return {.status = 204, .description = "NoContent", .body = amqp::Map{}}; }

Answer message_lock_lost() { return fail({.code = Errc::lock_lost}); }

Answer ok(amqp::Value body = amqp::Map{}) { return {.body = std::move(body)}; }

template <typename Item, typename Convert>
std::optional<std::vector<Item>> read_all(const amqp::Value& body, std::string_view key, Convert convert) {
    const amqp::Value* value = body.find(key);
    const auto* items = value != nullptr ? value->items() : nullptr;
    if (items == nullptr) {
        return std::nullopt;
    }
    std::vector<Item> all;
    for (const amqp::Value& item : *items) {
        const auto converted = convert(item);
        if (!converted) {
            return std::nullopt;
        }
        all.push_back(*converted);
    }
    return all;
}

std::optional<std::vector<std::int64_t>> read_sequences(const amqp::Value& body) {
    return read_all<std::int64_t>(body, "sequence-numbers", [](const amqp::Value& item) { return item.integer(); });
}

// What is no UUID can be no token that was given out: an array of nulls is one client's way of having none.
std::optional<std::vector<LockToken>> read_lock_tokens(const amqp::Value& body) {
    return read_all<LockToken>(body, "lock-tokens", [](const amqp::Value& item) -> std::optional<LockToken> {
        const auto* uuid = item.as<core::Uuid>();
        return LockToken::of(uuid != nullptr ? *uuid : core::Uuid{});
    });
}

std::optional<std::string_view> read_text(const amqp::Value& body, std::string_view key) {
    const amqp::Value* value = body.find(key);
    return value != nullptr ? value->text() : std::nullopt;
}

std::optional<std::int64_t> read_number(const amqp::Value& body, std::string_view key) {
    const amqp::Value* value = body.find(key);
    return value != nullptr ? value->integer() : std::nullopt;
}

amqp::Value array_of(std::uint8_t code, std::vector<amqp::Value> items) { return amqp::Array{.element = code, .items = std::move(items)}; }

amqp::Timestamp wall_time(TimePoint until, broker::Instant now) {
    return amqp::Timestamp::of(now.wall + std::chrono::duration_cast<WallTime::duration>(until - now.now));
}

amqp::Value encoded_message(const ReceivedMessage& message, std::optional<core::Uuid> lock_token, TimePoint locked_until, broker::Instant now) {
    amqp::DeliveryNotes notes{.facts = message.facts(), .lock_token = lock_token};
    if (lock_token) { // a client that gets a token without an end of the lock fails
        notes.locked_until = now.wall + std::chrono::duration_cast<WallTime::duration>(locked_until - now.now);
    }
    return amqp::Binary{amqp::encode_delivery(*message.shared_content(), notes, {.now = now.now, .wall = now.wall})};
}

std::optional<broker::Outcome> outcome_of(std::string_view status) noexcept {
    if (status == "completed") {
        return broker::Outcome::complete;
    }
    if (status == "abandoned") {
        return broker::Outcome::abandon;
    }
    if (status == "defered" || status == "deferred") { // the dialect's own spelling first
        return broker::Outcome::defer;
    }
    if (status == "suspended") {
        return broker::Outcome::dead_letter;
    }
    return std::nullopt;
}

} // namespace

struct Management::Operation {
    std::string_view name;
    Answer (Management::*perform)(const Request&);
    bool changes; // what is kept
};

const Management::Operation Management::operations[] = {
    {"com.microsoft:renew-lock", &Management::renew_lock, false},
    {"com.microsoft:peek-message", &Management::peek, false},
    {"com.microsoft:schedule-message", &Management::schedule, true},
    {"com.microsoft:cancel-scheduled-message", &Management::cancel_scheduled, true},
    {"com.microsoft:renew-session-lock", &Management::renew_session_lock, false},
    {"com.microsoft:set-session-state", &Management::set_session_state, true},
    {"com.microsoft:get-session-state", &Management::get_session_state, false},
    {"com.microsoft:get-message-sessions", &Management::list_sessions, false},
    {"com.microsoft:receive-by-sequence-number", &Management::receive_by_sequence, true},
    {"com.microsoft:update-disposition", &Management::update_disposition, true},
    {"com.microsoft:enumerate-rules", &Management::enumerate_rules, false},
    {"com.microsoft:add-rule", &Management::add_rule, true},
    {"com.microsoft:remove-rule", &Management::remove_rule, true},
};

Answer Management::answer(const Request& request) {
    const std::string_view name = request.operation();
    const auto* found = std::ranges::find(operations, name, &Operation::name);
    if (found == std::end(operations)) {
        return fail(501, condition::not_implemented, "the operation '" + std::string{name.substr(0, 100)} + "' is not supported");
    }
    const broker::Journal* journal = peer_.broker.journal();
    if (found->changes && journal != nullptr && journal->is_failing()) {
        return fail({.code = Errc::server_busy, .detail = "the broker's store cannot be written at present"});
    }
    Answer answer = (this->*found->perform)(request);
    answer.is_confirmation = found->changes && answer.condition.empty();
    return answer;
}

const Holder* Management::held_session(const Request& request) const {
    if (const auto session_id = read_text(request.body, "session-id")) {
        return peer_.locks.of_session(*queue_, *session_id);
    }
    const Holder* holder = peer_.locks.of_link(*queue_, request.text("associated-link-name"));
    return holder != nullptr && holder->consumer->has_session ? holder : nullptr;
}

Answer Management::renew_lock(const Request& request) {
    const auto tokens = read_lock_tokens(request.body);
    if (!tokens) {
        return lacks("lock-tokens");
    }
    const broker::Instant now = peer_.now();
    std::vector<amqp::Value> expirations;
    for (const LockToken& token : *tokens) {
        const Holder* holder = peer_.locks.of_number(token.holder);
        if (holder == nullptr || holder->queue != queue_) {
            return message_lock_lost();
        }
        const auto until = queue_->renew_message(*holder->consumer, token.token, now);
        if (!until) {
            return fail(until.failure());
        }
        expirations.emplace_back(wall_time(until.value(), now));
    }
    return ok(amqp::Value::map({{"expirations", array_of(timestamp_code, std::move(expirations))}}));
}

Answer Management::peek(const Request& request) {
    const auto from = read_number(request.body, "from-sequence-number");
    const auto count = read_number(request.body, "message-count");
    if (!from || !count || *count < 0) {
        return lacks(!from ? "from-sequence-number" : "message-count");
    }
    std::optional<std::string> session_id;
    if (const auto named = read_text(request.body, "session-id")) {
        session_id = *named;
    } else if (const Holder* holder = held_session(request)) {
        session_id = holder->consumer->session_id;
    }
    const auto most = static_cast<std::uint32_t>(std::min<std::int64_t>(*count, most_peeked));
    amqp::List messages;
    std::size_t bytes = 0;
    const broker::Instant now = peer_.now();
    for (const ReceivedMessage& message : queue_->peek(*from, most, session_id, now)) {
        bytes += message.shared_content()->bytes();
        if (bytes > most_peeked_bytes && !messages.empty()) {
            break; // the client asks again, from there on
        }
        messages.push_back(amqp::Value::map({{"message", encoded_message(message, std::nullopt, {}, now)}}));
    }
    if (messages.empty()) {
        return no_content();
    }
    return ok(amqp::Value::map({{"messages", std::move(messages)}}));
}

Answer Management::schedule(const Request& request) {
    const auto encoded = read_all<std::string_view>(request.body, "messages", [](const amqp::Value& item) {
        const amqp::Value* message = item.find("message");
        return message != nullptr ? message->bytes() : std::nullopt;
    });
    if (!encoded) {
        return lacks("messages");
    }
    std::vector<MessageContentPtr> messages;
    for (const std::string_view bytes : *encoded) {
        auto decoded = decode_transfer(std::string{bytes}, 0, peer_.now());
        if (!decoded) {
            return fail(decoded.failure());
        }
        std::ranges::move(decoded.value(), std::back_inserter(messages));
    }
    const auto sent = queue_->send(std::move(messages), peer_.now());
    if (!sent) {
        return fail(sent.failure());
    }
    return ok(amqp::Value::map({{"sequence-numbers", array_of(long_code, {sent.value().begin(), sent.value().end()})}}));
}

Answer Management::cancel_scheduled(const Request& request) {
    const auto sequences = read_sequences(request.body);
    if (!sequences) {
        return lacks("sequence-numbers");
    }
    const auto cancelled = queue_->cancel_scheduled(*sequences, peer_.now());
    return cancelled ? ok() : fail(cancelled.failure());
}

Answer Management::renew_session_lock(const Request& request) {
    const Holder* holder = held_session(request);
    if (holder == nullptr) {
        return session_lock_lost();
    }
    const broker::Instant now = peer_.now();
    const auto until = queue_->renew(*holder->consumer, now);
    if (!until) {
        return fail(until.failure(), LockKind::session);
    }
    peer_.locks.note_renewal(holder->number, until.value());
    return ok(amqp::Value::map({{"expiration", wall_time(until.value(), now)}}));
}

Answer Management::set_session_state(const Request& request) {
    const Holder* holder = held_session(request);
    if (holder == nullptr) {
        return session_lock_lost();
    }
    const amqp::Value* state = request.body.find("session-state");
    std::optional<std::string> bytes;
    if (state != nullptr && !state->is_null()) {
        const auto given = state->bytes();
        if (!given) {
            return lacks("session-state");
        }
        if (!given->empty()) { // one client clears the state with no bytes
            bytes = *given;
        }
    }
    const auto done = queue_->set_state(*holder->consumer, std::move(bytes), peer_.now());
    return done ? ok() : fail(done.failure(), LockKind::session);
}

Answer Management::get_session_state(const Request& request) {
    const Holder* holder = held_session(request);
    if (holder == nullptr) {
        return session_lock_lost();
    }
    auto state = queue_->get_state(*holder->consumer, peer_.now());
    if (!state) {
        return fail(state.failure(), LockKind::session);
    }
    return ok(amqp::Value::map({{"session-state", state.value() ? amqp::Value::binary(*state.value()) : amqp::Value{}}}));
}

Answer Management::list_sessions(const Request& request) {
    const auto skip = read_number(request.body, "skip");
    const auto top = read_number(request.body, "top");
    if (!skip || !top || *skip < 0 || *top < 0) {
        return lacks(!skip || *skip < 0 ? "skip" : "top");
    }
    if (const auto since = read_number(request.body, "last-updated-time"); since && *since < end_of_time) {
        return fail(501, condition::not_implemented, "listing the sessions whose state was set after some time is not supported");
    }
    const auto ids = queue_->list_sessions(static_cast<std::size_t>(*skip), static_cast<std::size_t>(*top), peer_.now());
    if (ids.empty()) {
        return no_content();
    }
    const auto next = static_cast<std::int32_t>(*skip + static_cast<std::int64_t>(ids.size()));
    return ok(amqp::Value::map({{"skip", next}, {"sessions-ids", array_of(string_code, {ids.begin(), ids.end()})}}));
}

Answer Management::receive_by_sequence(const Request& request) {
    const auto sequences = read_sequences(request.body);
    if (!sequences) {
        return lacks("sequence-numbers");
    }
    const broker::Instant now = peer_.now();
    const Holder* holder = held_session(request);
    if (holder == nullptr && queue_->options().requires_session) {
        return session_lock_lost();
    }
    if (holder == nullptr) {
        const auto unlinked = peer_.locks.unlinked(queue_, now);
        if (!unlinked) {
            return fail(unlinked.failure());
        }
        holder = unlinked.value();
    }
    std::vector<broker::Delivered> received;
    if (const auto done = queue_->receive_deferred(*holder->consumer, *sequences, received, now); !done) {
        return fail(done.failure(), LockKind::session);
    }
    const bool deletes = holder->consumer->mode == broker::ReceiveMode::receive_and_delete;
    const bool is_to_delete = read_number(request.body, "receiver-settle-mode") == 0;
    amqp::List messages;
    std::vector<broker::SettleOrder> completions;
    for (const broker::Delivered& delivered : received) {
        const core::Uuid token = LockToken{.holder = holder->number, .token = delivered.token}.uuid();
        const auto noted = deletes || is_to_delete ? std::nullopt : std::optional{token};
        messages.push_back(amqp::Value::map(
            {{"message", encoded_message(delivered.message, noted, holder->message_locked_until(now.now), now)}, {"lock-token", token}}));
        completions.push_back({.token = delivered.token});
    }
    if (is_to_delete && !deletes) {
        queue_->settle(*holder->consumer, completions, now);
    }
    return ok(amqp::Value::map({{"messages", std::move(messages)}}));
}

Answer Management::update_disposition(const Request& request) {
    const auto tokens = read_lock_tokens(request.body);
    const auto status = read_text(request.body, "disposition-status");
    const auto outcome = status ? outcome_of(*status) : std::nullopt;
    if (!tokens || !outcome) {
        return lacks(!tokens ? "lock-tokens" : "disposition-status");
    }
    broker::Changes changes;
    if (const amqp::Value* properties = request.body.find("properties-to-modify")) {
        read_changes(*properties, changes);
    }
    if (const auto reason = read_text(request.body, "deadletter-reason")) {
        changes.dead_letter.reason = *reason;
    }
    if (const auto description = read_text(request.body, "deadletter-description")) {
        changes.dead_letter.description = *description;
    }
    for (const LockToken& token : *tokens) {
        const Holder* holder = peer_.locks.of_number(token.holder);
        if (holder == nullptr || holder->queue != queue_) {
            return message_lock_lost();
        }
        broker::SettleOrder order{.token = token.token, .outcome = *outcome, .changes = &changes};
        queue_->settle(*holder->consumer, std::span{&order, 1}, peer_.now());
        if (order.failed_with) {
            return fail({.code = *order.failed_with});
        }
    }
    return ok();
}

Answer Management::enumerate_rules(const Request& request) {
    const auto* book = queue_->rules();
    const auto skip = read_number(request.body, "skip");
    const auto top = read_number(request.body, "top");
    if (book == nullptr) {
        return has_no_rules();
    }
    if (!skip || !top || *skip < 0 || *top < 0) {
        return lacks(!skip || *skip < 0 ? "skip" : "top");
    }
    amqp::List page;
    const std::vector<Rule> rules = book->list();
    for (auto i = static_cast<std::size_t>(*skip); i < rules.size() && page.size() < static_cast<std::size_t>(*top); ++i) {
        page.push_back(amqp::Value::map({{"rule-description", describe_rule(rules[i])}}));
    }
    return page.empty() ? no_content() : ok(amqp::Value::map({{"rules", std::move(page)}}));
}

Answer Management::add_rule(const Request& request) {
    auto* book = queue_->rules();
    if (book == nullptr) {
        return has_no_rules();
    }
    auto rule = read_rule(request.body);
    const auto added = rule ? book->add(std::move(rule).value()) : core::Result<core::Done>{rule.failure()};
    return added ? ok() : fail(added.failure());
}

Answer Management::remove_rule(const Request& request) {
    auto* book = queue_->rules();
    if (book == nullptr) {
        return has_no_rules();
    }
    const auto name = read_text(request.body, "rule-name");
    if (!name) {
        return lacks("rule-name");
    }
    if (book->remove(*name)) {
        return ok();
    }
    amqp::Condition gone = entity_not_found(queue_->name() + "/Rules/" + std::string{*name}); // one client knows it by its words
    return fail(404, gone.name, gone.text);
}

} // namespace sessionq::server
