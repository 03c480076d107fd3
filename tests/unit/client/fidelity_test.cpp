// SPDX-License-Identifier: MIT
// A message keeps every byte and type of its sections through everything that is not asked to
// change them (R27).
#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <sessionq/sessionq.hpp>

#include "amqp/base64.hpp"
#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/encoder.hpp"
#include "client/calls/blocking.hpp"
#include "client/sending/sender_core.hpp"
#include "core/access.hpp"
#include "core/clock.hpp"
#include "support/code_of.hpp"
#include "support/random_message.hpp"
#include "unit/client/broker_front.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using amqp::MessageProperties;
using amqp::MessageSections;

namespace {

constexpr std::size_t message_count = 300;

amqp::ClockReading reading() {
    return {.now = core::system_clock().now(), .wall = core::system_clock().wall_now()};
}

/// What an operation changes in a message.
struct Changes {
    std::vector<std::string_view> properties{}; ///< application properties, by name
    bool is_redrive{false}; ///< message id, absolute-expiry-time, and creation-time beside it
};

Changes operator+(Changes changes, std::vector<std::string_view> properties) {
    changes.properties.insert(changes.properties.end(), properties.begin(), properties.end());
    return changes;
}

using Entries = std::vector<std::pair<std::string, std::string>>;

/// The entries of a map section, encoded, except those with a name that `is_left_out`.
Entries entries_of(std::string_view section, auto is_left_out) {
    Entries entries;
    CHECK(amqp::visit_encoded_entries(section, [&](const amqp::EncodedEntry& entry) {
        if (!entry.name || !is_left_out(*entry.name)) {
            entries.emplace_back(entry.key, entry.value);
        }
    }));
    return entries;
}

Entries annotations_of(std::string_view section) {
    return entries_of(section, amqp::is_set_by_brokers);
}

/// Brokers write a header of their own.
auto header_of(std::string_view section) {
    const auto header = amqp::MessageHeader::read(section);
    REQUIRE(header);
    return std::tuple{header->durable, header->priority, header->time_to_live};
}

bool may_differ(std::uint32_t field, const Changes& changes, bool was_there) {
    switch (field) {
    case MessageProperties::message_id: return changes.is_redrive;
    case MessageProperties::creation_time: return changes.is_redrive;
    // A broker that delivers a message with a time to live says when it expires.
    case MessageProperties::absolute_expiry_time: return changes.is_redrive || !was_there;
    default: return false;
    }
}

/// The parts of a message that differ and that the operation was not to change.
std::vector<std::string> differences(std::string_view before, std::string_view after,
                                     const Changes& changes) {
    std::vector<std::string> found;
    const auto check = [&found](bool is_equal, const std::string& part) {
        if (!is_equal) {
            found.push_back(part);
        }
    };
    const auto old = MessageSections::find(before);
    const auto now = MessageSections::find(after);
    REQUIRE(old);
    REQUIRE(now);
    check(header_of(old->header) == header_of(now->header), "header");
    check(annotations_of(old->delivery_annotations) == annotations_of(now->delivery_annotations),
          "delivery annotations");
    check(annotations_of(old->message_annotations) == annotations_of(now->message_annotations),
          "message annotations");
    const auto old_fields = MessageProperties::read(old->properties);
    const auto new_fields = MessageProperties::read(now->properties);
    REQUIRE(old_fields);
    REQUIRE(new_fields);
    for (std::uint32_t field = 0; field < MessageProperties::field_count; ++field) {
        const std::string_view was = old_fields->encoded[field];
        check(was == new_fields->encoded[field] || may_differ(field, changes, !was.empty()),
              "property " + std::to_string(field));
    }
    const auto is_changed = [&](std::string_view name) {
        return std::ranges::find(changes.properties, name) != changes.properties.end();
    };
    check(entries_of(old->application_properties, is_changed) ==
              entries_of(now->application_properties, is_changed),
          "application properties");
    check(old->body_kind == now->body_kind && old->body == now->body, "body");
    check(old->footer == now->footer, "footer");
    return found;
}

std::string encoded(const ReceivedMessage& message) {
    const auto* const content =
        dynamic_cast<const amqp::EncodedContent*>(message.shared_content().get());
    REQUIRE(content != nullptr);
    return std::string{content->encoded()};
}

void check_same(const std::string& before, const ReceivedMessage& after, const Changes& changes) {
    CHECK(differences(before, encoded(after), changes) == std::vector<std::string>{});
}

/// A client of a broker, and the messages that its broker takes.
struct Port {
    const Client& client;
    tests::RandomMessageOptions messages{};
};

/// Random messages, sent as they are to sessions that `session_of` names.
std::vector<std::string> send(const Port& port, const std::string& entity, auto session_of) {
    core::Random random{20261128};
    std::vector<std::string> sent;
    const Sender sender{port.client, entity};
    tests::RandomMessageOptions options = port.messages;
    for (std::size_t i = 0; i < message_count; ++i) {
        options.session_id = session_of(i);
        sent.push_back(tests::random_message(random, options));
        detail::client::block(detail::client::Access::core(sender)->send(
            std::vector<MessageContentPtr>{
                amqp::EncodedContent::make(sent.back(), reading()).value()},
            {}));
    }
    return sent;
}

std::vector<LockedMessage> receive_all(auto& receiver) {
    std::vector<LockedMessage> all;
    while (all.size() < message_count) {
        auto some = receiver.receive(message_count - all.size(), 10s);
        REQUIRE_FALSE(some.empty());
        std::ranges::move(some, std::back_inserter(all));
    }
    return all;
}

std::string_view field_of(std::string_view message, MessageProperties::Field field) {
    const auto properties = MessageProperties::read(MessageSections::find(message)->properties);
    return properties->encoded[field];
}

/// A redriven message has an id of the type that it had, and keeps the old one.
void check_id(const std::string& before, const ReceivedMessage& copy) {
    const std::string now = encoded(copy);
    const std::string_view old_id = field_of(before, MessageProperties::message_id);
    const std::string_view new_id = field_of(now, MessageProperties::message_id);
    const auto old_value = amqp::decode(old_id);
    const auto new_value = amqp::decode(new_id);
    REQUIRE(old_value);
    REQUIRE(new_value);
    CHECK(old_value->held().index() == new_value->held().index());
    CHECK(*old_value != *new_value);
    const std::string_view kept = amqp::find_entry(
        MessageSections::find(now)->application_properties, redrive_message_id_property);
    const auto* const bytes = old_value->as<amqp::Binary>();
    CHECK(amqp::decode(kept) ==
          (bytes != nullptr ? amqp::Value{amqp::base64(bytes->bytes)} : *old_value));
}

void settle_and_redrive(const Port& port) {
    const Client& client = port.client;
    const auto sent = send(port, "orders", [](std::size_t) { return std::string{"s"}; });
    Changes changes;
    const auto check_all = [&](const auto& messages) {
        REQUIRE(messages.size() == sent.size());
        for (std::size_t i = 0; i < sent.size(); ++i) {
            check_same(sent[i], messages[i].message(), changes);
        }
    };
    {
        SessionReceiver receiver = SessionReceiver::accept(client, "orders", "s");
        auto messages = receive_all(receiver);
        check_all(messages);
        for (LockedMessage& message : messages) {
            message.abandon({{"abandoned", std::string{"once"}}});
        }
    }
    changes = changes + std::vector<std::string_view>{"abandoned"};
    {
        SessionReceiver receiver = SessionReceiver::accept(client, "orders", "s");
        auto messages = receive_all(receiver);
        check_all(messages);
        std::vector<std::int64_t> numbers;
        for (LockedMessage& message : messages) {
            numbers.push_back(message.sequence_number());
            message.defer({{"deferred", true}});
        }
        changes = changes + std::vector<std::string_view>{"deferred"};
        auto deferred = receiver.receive_deferred(numbers);
        check_all(deferred);
        for (auto& message : deferred) {
            message.dead_letter("Broken", "because", {{"dead", std::int64_t{1}}});
        }
    }
    changes = changes + std::vector<std::string_view>{"dead", "DeadLetterReason",
                                                      "DeadLetterErrorDescription"};
    {
        Receiver receiver = Receiver::open(client, "orders", {.sub_queue = SubQueue::dead_letter});
        check_all(receive_all(receiver));
    }
    CHECK(redrive(client, "orders").sent == message_count);
    changes =
        changes + std::vector<std::string_view>{redrive_source_property, redrive_number_property,
                                                redrive_message_id_property};
    changes.is_redrive = true;
    SessionReceiver receiver = SessionReceiver::accept(client, "orders", "s");
    const auto copies = receive_all(receiver);
    check_all(copies);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        check_id(sent[i], copies[i].message());
        CHECK_FALSE(copies[i].message().properties().contains("DeadLetterReason"));
        CHECK(copies[i].message().properties().at("abandoned") == PropertyValue{"once"});
    }
}

void forward(const Port& port) {
    const Client& client = port.client;
    const auto sent = send(port, "way", [](std::size_t) { return std::string{"s"}; });
    {
        SessionReceiver receiver = SessionReceiver::accept(client, "target", "s");
        auto messages = receive_all(receiver);
        for (std::size_t i = 0; i < sent.size(); ++i) {
            check_same(sent[i], messages[i].message(), {});
            messages[i].dead_letter("Broken", "because");
        }
    }
    SessionReceiver receiver = SessionReceiver::accept(client, "graveyard", "s");
    const auto messages = receive_all(receiver);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        check_same(sent[i], messages[i].message(),
                   {.properties = {"DeadLetterReason", "DeadLetterErrorDescription"}});
    }
}

void retry_later(const Port& port) {
    const Client& client = port.client;
    const auto sent = send(port, "later", [](std::size_t i) { return std::to_string(i); });
    std::mutex mutex;
    std::map<std::string, std::vector<ReceivedMessage>> handled;
    std::stop_source all_done;
    SessionProcessor processor{client,
                               "later",
                               {.max_concurrent_sessions = 16,
                                .session_idle_timeout = 0ms,
                                .failure_policy = FailurePolicy::retry_later({1ms})}};
    std::size_t left = message_count;
    processor.on_message([&](MessageContext& context) {
        const std::lock_guard lock{mutex};
        auto& deliveries = handled[std::string{context.message().session_id()}];
        deliveries.push_back(context.message());
        if (deliveries.size() == 1) {
            throw std::runtime_error{"later"};
        }
        if (--left == 0) {
            all_done.request_stop();
        }
    });
    processor.start();
    std::mutex waiting;
    std::condition_variable_any done;
    std::unique_lock lock{waiting};
    CHECK(
        done.wait_for(lock, all_done.get_token(), 60s, [&] { return all_done.stop_requested(); }));
    processor.stop(10s);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const auto& deliveries = handled[std::to_string(i)];
        CHECK(deliveries.size() == 2);
        for (const ReceivedMessage& each : deliveries) {
            check_same(sent[i], each, {});
        }
    }
}

/// Runs `check` on a broker with all queues: in process, and over a network.
void on_each_port(void (*check)(const Port&)) {
    LocalBroker broker;
    broker.create_queue("orders");
    broker.create_queue("graveyard");
    broker.create_queue("target", {.forward_dead_letters_to = "graveyard"});
    broker.create_queue("way", {.requires_session = false, .forward_to = "target"});
    broker.create_queue("later");
    SUBCASE("in process") {
        const Client client = Client::in_process(broker);
        check({.client = client});
    }
    SUBCASE("over a network") {
        const test::BrokerFront front{broker};
        const Client client = front.connect();
        check({.client = client, .messages = {.binary_properties = false}}); // refused, as by Azure
    }
}

} // namespace

TEST_CASE("fidelity: R27: abandon, defer, dead-letter and redrive change what they are to "
          "change") {
    on_each_port(settle_and_redrive);
}

TEST_CASE("fidelity: R27: a forwarded message stays as it was sent") { on_each_port(forward); }

TEST_CASE("fidelity: a message that is retried later stays as it was sent") {
    on_each_port(retry_later);
}

namespace {

DeadLetterInfo only_dead_letter(const Client& client, const std::string& entity) {
    const auto dead = Browser{client, entity, {.sub_queue = SubQueue::dead_letter}}.peek(10);
    REQUIRE(dead.size() == 1);
    REQUIRE(dead.front().dead_letter());
    return *dead.front().dead_letter();
}

void dead_letter_texts(const Port& port) {
    const Client& client = port.client;
    const Sender sender{client, "orders"};
    sender.send(Message::of("1").in_session("a"));
    const std::string large(100'000, 'x');
    {
        SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
        receiver.receive_one()->dead_letter("Broken", large + "\xff");
    }
    const DeadLetterInfo why = only_dead_letter(client, "orders");
    CHECK(why.reason == "Broken");
    CHECK(why.description == std::string(4'096, 'x'));

    Sender{client, "later"}.send(Message::of("1").in_session("a"));
    SessionProcessor processor{client, "later", {.failure_policy = FailurePolicy::dead_letter()}};
    std::stop_source failed;
    processor.on_message([&](MessageContext&) -> void {
        failed.request_stop();
        throw std::runtime_error{"caf\xe9 " + large};
    });
    processor.start();
    std::mutex waiting;
    std::condition_variable_any done;
    std::unique_lock lock{waiting};
    CHECK(done.wait_for(lock, failed.get_token(), 60s, [&] { return failed.stop_requested(); }));
    processor.stop(10s);
    const DeadLetterInfo thrown = only_dead_letter(client, "later");
    CHECK(thrown.reason == "HandlerFailed");
    CHECK(thrown.description == "caf\xef\xbf\xbd " + std::string(4'096 - 5, 'x'));
}

void properties_to_modify(const Port& port) {
    const Client& client = port.client;
    Sender{client, "orders"}.send(Message::of("1").in_session("a"));
    SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
    auto message = receiver.receive_one();
    const Properties not_text{{"k", std::string{"\xff"}}};
    CHECK(test::code_of([&] { message->abandon(not_text); }) == Errc::invalid_argument);
    CHECK(test::code_of([&] { message->defer(not_text); }) == Errc::invalid_argument);
    CHECK(test::code_of([&] { message->dead_letter("r", "d", not_text); }) ==
          Errc::invalid_argument);
    const Properties large{{"k", std::string(70'000, 'x')}};
    CHECK(test::code_of([&] { message->abandon(large); }) == Errc::message_too_large);
    CHECK_FALSE(message->settled());
    message->complete();
}

} // namespace

TEST_CASE("fidelity: a long dead-letter text is cut, and its reason is kept") {
    on_each_port(dead_letter_texts);
}

TEST_CASE("fidelity: properties that no settlement can change are refused, and the message can be "
          "settled without") {
    on_each_port(properties_to_modify);
}
