// SPDX-License-Identifier: MIT
#include "amqp/codec/delivery_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "amqp/codec/encoder.hpp"
#include "amqp/codec/message_codec.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::string_view sequence_number_name = "x-opt-sequence-number";
constexpr std::string_view enqueued_time_name = "x-opt-enqueued-time";
constexpr std::string_view locked_until_name = "x-opt-locked-until";
constexpr std::string_view state_name = "x-opt-message-state";
constexpr std::string_view lock_token_name = "x-opt-lock-token";
constexpr std::string_view holder_lost_name = "x-opt-sessionq-holder-lost";
constexpr std::string_view source_name = "x-opt-deadletter-source";
constexpr std::string_view enqueued_sequence_name = "x-opt-enqueue-sequence-number";

/// Annotations that only the broker sets. A sender's values are dropped.
constexpr std::array<std::string_view, 8> of_brokers{
    sequence_number_name, enqueued_time_name,     locked_until_name, state_name,
    source_name,          enqueued_sequence_name, lock_token_name,   holder_lost_name};

/// Copies a sender's annotations. Returns how many keys and values it wrote.
std::uint32_t copy_annotations(std::string_view annotations, Encoder& encoder) {
    return copy_entries(annotations, encoder, is_set_by_brokers);
}

void write_annotations(const MessageSections& sections, const DeliveryNotes& notes,
                       std::string& to) {
    Encoder encoder{to};
    encoder.write_descriptor(section::message_annotations);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count = copy_annotations(sections.message_annotations, encoder);
    encoder.write_symbol(sequence_number_name);
    encoder.write_long(notes.facts.sequence_number);
    encoder.write_symbol(enqueued_time_name);
    encoder.write_timestamp(Timestamp::of(notes.facts.enqueued_time));
    count += 4;
    if (notes.locked_until) {
        encoder.write_symbol(locked_until_name);
        encoder.write_timestamp(Timestamp::of(*notes.locked_until));
        count += 2;
    }
    if (notes.facts.state != MessageState::active) {
        encoder.write_symbol(state_name);
        encoder.write_int(static_cast<std::int32_t>(notes.facts.state));
        count += 2;
    }
    if (const auto& dead = notes.facts.dead_letter; dead && !dead->source.empty()) {
        encoder.write_symbol(source_name);
        encoder.write_string(dead->source);
        count += 2;
    }
    if (notes.facts.enqueued_sequence_number != 0) {
        encoder.write_symbol(enqueued_sequence_name);
        encoder.write_long(notes.facts.enqueued_sequence_number);
        count += 2;
    }
    encoder.end_map(begun, count);
}

/// The annotations of nearly every delivery, encoded once except for three numbers.
class UsualAnnotations {
public:
    UsualAnnotations() {
        const DeliveryFacts facts{
            .sequence_number = std::numeric_limits<std::int64_t>::max()}; // needs all eight bytes
        write_annotations({}, {.facts = facts, .locked_until = WallTime{}}, encoded_);
        sequence_number_ = place_of(sequence_number_name);
        enqueued_time_ = place_of(enqueued_time_name);
        locked_until_ = place_of(locked_until_name);
    }

    [[nodiscard]] static bool fit(const MessageSections& sections,
                                  const DeliveryNotes& notes) noexcept {
        return sections.message_annotations.empty() && notes.locked_until &&
               notes.facts.state == MessageState::active &&
               notes.facts.enqueued_sequence_number == 0 &&
               (!notes.facts.dead_letter || notes.facts.dead_letter->source.empty());
    }

    void write(const DeliveryNotes& notes, std::string& to) const {
        const std::size_t start = to.size();
        to.append(encoded_);
        const auto set = [&](std::size_t place, std::int64_t number) {
            core::put_number<8>(to.data() + start + place, static_cast<std::uint64_t>(number));
        };
        set(sequence_number_, notes.facts.sequence_number);
        set(enqueued_time_, Timestamp::of(notes.facts.enqueued_time).milliseconds);
        set(locked_until_, Timestamp::of(*notes.locked_until).milliseconds);
    }

private:
    /// Returns the position of the eight-byte number under this key.
    [[nodiscard]] std::size_t place_of(std::string_view key) const noexcept {
        return static_cast<std::size_t>(find_entry(encoded_, key).data() - encoded_.data()) + 1;
    }

    std::string encoded_{};
    std::size_t sequence_number_{0};
    std::size_t enqueued_time_{0};
    std::size_t locked_until_{0};
};

/// Lets the header tell the time to live that the broker enforces. Returns whether the message
/// asked for a longer one, or for none. `said`: when the sender said that it expires.
bool shorten_time_to_live(MessageHeader& header, std::optional<WallTime> said,
                          const DeliveryFacts& facts) {
    if (!facts.expires_at) {
        return false;
    }
    using std::chrono::milliseconds;
    const auto enforced =
        std::chrono::duration_cast<milliseconds>(between(facts.enqueued_time, *facts.expires_at));
    if (header.time_to_live ? milliseconds{*header.time_to_live} <= enforced
                            : said && *said <= *facts.expires_at) {
        return false;
    }
    header.time_to_live = static_cast<std::uint32_t>(std::clamp<milliseconds::rep>(
        enforced.count(), 0, std::numeric_limits<std::uint32_t>::max()));
    return true;
}

/// `is_own` is true if the broker sets the expiry time: no sender encoded the properties, the
/// broker shortens the time to live, or the sender's time was over at its arrival. Receivers take
/// the time between creation and expiry for it.
void write_properties(const MessageSections& sections, const DeliveryNotes& notes, bool is_own,
                      std::string& to) {
    const auto said =
        notes.facts.expires_at ? MessageProperties::read(sections.properties) : std::nullopt;
    const bool says_expiry =
        said && !said->encoded[MessageProperties::absolute_expiry_time].empty();
    if (!said || (says_expiry && !is_own)) {
        to.append(sections.properties);
        return;
    }
    MessageProperties properties = *said;
    const std::string expires_at = encode(Timestamp::of(*notes.facts.expires_at));
    properties.encoded[MessageProperties::absolute_expiry_time] = expires_at;
    const std::string enqueued = encode(Timestamp::of(notes.facts.enqueued_time));
    if (says_expiry && !properties.encoded[MessageProperties::creation_time].empty()) {
        properties.encoded[MessageProperties::creation_time] = enqueued;
    }
    properties.write(to);
}

void write_application_properties(const MessageSections& sections, const DeliveryNotes& notes,
                                  std::string& to) {
    if (!notes.facts.dead_letter) {
        to.append(sections.application_properties);
        return;
    }
    Encoder encoder{to};
    encoder.write_descriptor(section::application_properties);
    const std::size_t begun = encoder.begin_map();
    const DeadLetterInfo& why = *notes.facts.dead_letter;
    std::uint32_t count =
        copy_entries(sections.application_properties, encoder, [&why](std::string_view name) {
            return (name == dead_letter_reason && !why.reason.empty()) ||
                   (name == dead_letter_description && !why.description.empty());
        });
    const auto put = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) {
            encoder.write_string(name);
            encoder.write_string(text);
            count += 2;
        }
    };
    put(dead_letter_reason, why.reason);
    put(dead_letter_description, why.description);
    encoder.end_map(begun, count);
}

void write_delivery_annotations(const MessageSections& sections, const DeliveryNotes& notes,
                                std::string& to) {
    Encoder encoder{to};
    encoder.write_descriptor(section::delivery_annotations);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count = copy_annotations(sections.delivery_annotations, encoder);
    if (notes.lock_token) {
        encoder.write_symbol(lock_token_name);
        encoder.write_uuid(*notes.lock_token);
        count += 2;
    }
    if (notes.holder_lost) {
        encoder.write_symbol(holder_lost_name);
        encoder.write_boolean(true);
        count += 2;
    }
    encoder.end_map(begun, count);
}

/// The delivery annotations of nearly every locked message: its lock token and nothing else.
class OnlyLockToken {
public:
    OnlyLockToken() {
        const DeliveryFacts facts;
        write_delivery_annotations({}, {.facts = facts, .lock_token = core::Uuid{}}, encoded_);
        token_ = encoded_.size() - core::Uuid{}.bytes.size();
    }

    [[nodiscard]] static bool fits(const MessageSections& sections,
                                   const DeliveryNotes& notes) noexcept {
        return sections.delivery_annotations.empty() && notes.lock_token && !notes.holder_lost;
    }

    void write(const core::Uuid& token, std::string& to) const {
        const std::size_t start = to.size();
        to.append(encoded_);
        std::memcpy(to.data() + start + token_, token.bytes.data(), token.bytes.size());
    }

private:
    std::string encoded_{};
    std::size_t token_{0};
};

/// Reads the facts in the annotations of the broker. Returns the source of a dead letter, or an
/// empty view.
std::string_view read_annotations(std::string_view annotations, ReceivedDelivery& delivery) {
    std::string_view source;
    DeliveryFacts& facts = delivery.facts;
    visit_entries(annotations, [&](std::string_view name, std::string_view encoded) {
        const auto number = [encoded] { return Decoder{encoded}.read_integer(); };
        if (name == sequence_number_name) {
            facts.sequence_number = number().value_or(facts.sequence_number);
        } else if (name == enqueued_time_name) {
            facts.enqueued_time = time_in(encoded).value_or(facts.enqueued_time);
        } else if (name == locked_until_name) {
            delivery.locked_until = time_in(encoded);
        } else if (name == state_name) {
            if (const auto state = number(); state && *state >= 0 && *state <= 2) {
                facts.state = static_cast<MessageState>(*state);
            }
        } else if (name == enqueued_sequence_name) {
            facts.enqueued_sequence_number = number().value_or(facts.enqueued_sequence_number);
        } else if (name == source_name) {
            source = Decoder{encoded}.read_bytes().value_or("");
        }
    });
    return source;
}

std::optional<DeadLetterInfo> dead_letter_info(std::string_view application_properties) {
    std::optional<DeadLetterInfo> info;
    visit_entries(application_properties, [&](std::string_view name, std::string_view encoded) {
        if (!is_dead_letter_name(name)) {
            return;
        }
        const bool is_reason = name == dead_letter_reason;
        if (const auto text = Decoder{encoded}.read_bytes()) {
            DeadLetterInfo& said = info ? *info : info.emplace();
            (is_reason ? said.reason : said.description) = *text;
        }
    });
    return info;
}

/// The time that a message waited at the broker, at least.
Duration time_waited(WallTime enqueued, WallTime brokers_now) noexcept {
    if (enqueued == WallTime{}) { // the broker does not tell
        return Duration::zero();
    }
    constexpr Duration cut = std::chrono::milliseconds{1}; // less than that is not on the wire
    return std::max(between(enqueued, brokers_now), cut) - cut;
}

core::Result<ReceivedDelivery> to_delivery(std::shared_ptr<const EncodedContent> content,
                                           WallTime brokers_now) {
    core::Result<ReceivedDelivery> made{ReceivedDelivery{.content = std::move(content)}};
    ReceivedDelivery& delivery = made.value(); // where it stays
    const EncodedContent& held = *delivery.content;
    const MessageSections& sections = held.sections();
    DeliveryFacts& facts = delivery.facts;
    facts.delivery_count = held.header().delivery_count;
    facts.redelivered = facts.delivery_count > 0;
    const std::string_view source = read_annotations(sections.message_annotations, delivery);
    facts.expires_at = held.absolute_expiry_time();
    if (const auto time_to_live = held.time_to_live(); time_to_live && !facts.expires_at) {
        facts.expires_at = Timestamp::later(facts.enqueued_time, *time_to_live).time();
    }
    auto dead_letter = dead_letter_info(sections.application_properties);
    if (!source.empty()) {
        (dead_letter ? *dead_letter : dead_letter.emplace()).source = source;
    }
    if (dead_letter) {
        facts.dead_letter = std::make_shared<const DeadLetterInfo>(*std::move(dead_letter));
    }
    if (const Deadline unwaited = held.deadline(); !unwaited.is_never()) {
        facts.deadline =
            Deadline::at(unwaited.time() - time_waited(facts.enqueued_time, brokers_now));
    }
    visit_entries(sections.delivery_annotations,
                  [&](std::string_view name, std::string_view value) {
                      if (name == lock_token_name) {
                          delivery.lock_token = Decoder{value}.read_uuid();
                      } else if (name == holder_lost_name) {
                          delivery.holder_lost = Decoder{value}.read_boolean().value_or(false);
                      }
                  });
    return made;
}

} // namespace

bool is_set_by_brokers(std::string_view annotation) noexcept {
    return std::ranges::find(of_brokers, annotation) != of_brokers.end();
}

bool is_dead_letter_name(std::string_view property) noexcept {
    return property == dead_letter_reason || property == dead_letter_description;
}

std::string_view encode_delivery(const MessageContent& content, const DeliveryNotes& notes,
                                 const ClockReading& at, std::string& head) {
    const auto* own = dynamic_cast<const EncodedContent*>(&content);
    // A message that no sender encoded was created when it was enqueued, not when it is delivered.
    const std::string made =
        own != nullptr
            ? std::string{}
            : encode_message(content.message(), reading_at(notes.facts.enqueued_time, at));
    const MessageSections sections =
        own != nullptr ? own->sections() : MessageSections::find(made).value_or(MessageSections{});
    MessageHeader header = own != nullptr
                               ? own->header()
                               : MessageHeader::read(sections.header).value_or(MessageHeader{});
    header.delivery_count = notes.facts.delivery_count;
    const auto said = own != nullptr ? own->absolute_expiry_time() : std::nullopt;
    const bool is_shortened = shorten_time_to_live(header, said, notes.facts);
    const bool says_it_is_over = said && *said <= notes.facts.enqueued_time; // SmallRye says zero
    head.clear();
    header.write(head);
    if (static const OnlyLockToken usual; OnlyLockToken::fits(sections, notes)) {
        usual.write(*notes.lock_token, head);
    } else if (notes.lock_token || notes.holder_lost || !sections.delivery_annotations.empty()) {
        write_delivery_annotations(sections, notes, head);
    }
    if (static const UsualAnnotations usual; UsualAnnotations::fit(sections, notes)) {
        usual.write(notes, head);
    } else {
        write_annotations(sections, notes, head);
    }
    write_properties(sections, notes, own == nullptr || is_shortened || says_it_is_over, head);
    write_application_properties(sections, notes, head);
    if (own == nullptr) {
        head.append(sections.body);
        return {};
    }
    if (sections.body.empty()) {
        return sections.footer;
    }
    return {sections.body.data(),
            // footer and body are adjacent in the source
            sections.body.size() + sections.footer.size()};
}

std::string encode_delivery(const MessageContent& content, const DeliveryNotes& notes,
                            const ClockReading& at) {
    std::string encoded;
    encoded.append(encode_delivery(content, notes, at, encoded));
    return encoded;
}

core::Result<ReceivedDelivery> decode_delivery(std::string_view encoded, const ClockReading& at) {
    auto content = EncodedContent::make(encoded, at);
    if (!content.ok()) {
        return content.failure();
    }
    return to_delivery(std::move(content).value(), at.wall);
}

} // namespace sessionq::amqp
