// SPDX-License-Identifier: MIT
#include "amqp/codec/encoded_content.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "amqp/codec/amqp_value.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"
#include "amqp/codec/section_fields.hpp"
#include "core/peer_words.hpp"

namespace sessionq::amqp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest = std::chrono::hours{24 * 365 * 100};

Failure malformed(std::string_view what) {
    return {.code = Errc::protocol_error,
            .detail = "the message cannot be decoded: malformed " + std::string{what}};
}

/// Whether one value, which is complete, can be decoded.
bool is_readable(std::string_view value) {
    return constructor::simple[static_cast<std::uint8_t>(value.front())] ||
           can_read_property(value);
}

bool is_readable(const EncodedEntry& entry) {
    return is_readable(entry.value) && (entry.name || is_readable(entry.key));
}

/// Names the first entry of a map section that cannot be decoded, or the section. `one`: the word
/// for an entry.
std::optional<Failure> find_unreadable_entry(std::string_view section, std::string_view sections,
                                             std::string_view one) {
    std::optional<Failure> found;
    const bool walked = visit_encoded_entries(section, [&](const EncodedEntry& entry) {
        if (!found && !is_readable(entry)) {
            found =
                malformed(entry.name ? std::string{one} + " '" + core::peer_words(*entry.name) + "'"
                                     : std::string{sections});
        }
    });
    return walked ? found : malformed(sections);
}

/// The deadline that `left` milliseconds tell. Values out of range become never or passed.
Deadline deadline_after(std::int64_t left, TimePoint now) noexcept {
    return left > longest.count()
               ? Deadline::never()
               : Deadline::after(milliseconds{std::max<std::int64_t>(left, 0)}, now);
}

/// Allocates memory with `room` bytes behind the object and stores where they begin.
template <typename T>
class WithRoomBehind {
public:
    using value_type = T;

    WithRoomBehind(std::size_t room, char*& begins) noexcept : room_{room}, begins_{&begins} {}
    template <typename Other>
    explicit WithRoomBehind(const WithRoomBehind<Other>& other) noexcept
        : room_{other.room_}, begins_{other.begins_} {}

    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        auto* const memory = static_cast<char*>(::operator new(count * sizeof(T) + room_));
        *begins_ = memory + count * sizeof(T);
        return reinterpret_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t /*count*/) noexcept { ::operator delete(memory); }

    friend bool operator==(const WithRoomBehind&, const WithRoomBehind&) = default;

private:
    template <typename Other>
    friend class WithRoomBehind;

    std::size_t room_;
    char** begins_; // used by `allocate` only
};

MessageProperties::Field field_of(TextField field) noexcept {
    switch (field) {
    case TextField::content_type: return MessageProperties::content_type;
    case TextField::correlation_id: return MessageProperties::correlation_id;
    case TextField::message_id: return MessageProperties::message_id;
    case TextField::reply_to: return MessageProperties::reply_to;
    case TextField::reply_to_session_id: return MessageProperties::reply_to_group_id;
    case TextField::session_id: return MessageProperties::group_id;
    case TextField::to: return MessageProperties::to;
    default: return MessageProperties::subject;
    }
}

} // namespace

Duration between(WallTime earlier, WallTime later) noexcept {
    const milliseconds apart{Timestamp::of(later).milliseconds -
                             Timestamp::of(earlier).milliseconds};
    return std::clamp(apart, -longest, longest);
}

std::shared_ptr<EncodedContent> EncodedContent::copy_of(std::string_view encoded) {
    char* data = nullptr;
    auto made = std::allocate_shared<EncodedContent>(
        WithRoomBehind<EncodedContent>{encoded.size(), data}, Key{});
    std::copy(encoded.begin(), encoded.end(), data);
    made->encoded_ = {data, encoded.size()};
    return made;
}

core::Result<std::shared_ptr<const EncodedContent>> EncodedContent::make(std::string_view encoded,
                                                                         const ClockReading& at) {
    const std::shared_ptr<EncodedContent> made = copy_of(encoded);
    EncodedContent& content = *made;
    const auto sections = MessageSections::find(content.encoded_);
    if (!sections) {
        const auto sorted = in_standard_order(encoded);
        return sorted && *sorted != encoded ? make(*sorted, at) : malformed("sections");
    }
    content.sections_ = *sections;
    const auto header = MessageHeader::read(sections->header);
    if (!header || !content.set_properties()) {
        return malformed(header ? "properties" : "header");
    }
    content.header_ = *header;
    content.set_body();
    content.set_application_properties(at.now);
    return std::shared_ptr<const EncodedContent>{made};
}

std::optional<Failure> EncodedContent::find_unreadable() const {
    std::optional<Failure> found;
    if (!are_properties_readable_) {
        found = find_unreadable_property();
    }
    const auto look_at = [&found](std::string_view section, const char* sections) {
        if (!found && !section.empty()) {
            found = find_unreadable_entry(section, sections, "annotation");
        }
    };
    look_at(sections_.message_annotations, "message annotations");
    look_at(sections_.delivery_annotations, "delivery annotations");
    return found;
}

std::optional<Failure> EncodedContent::find_unreadable_property() const {
    std::string_view bad;
    visit_fields(sections_.properties, MessageProperties::field_count,
                 [&bad](std::uint32_t index, std::string_view field) {
                     if (!is_readable(field)) {
                         bad = properties_fields[index].name;
                     }
                 });
    return bad.empty() ? find_unreadable_entry(sections_.application_properties,
                                               "application properties", "application property")
                       : std::optional{malformed("property '" + std::string{bad} + "'")};
}

EncodedContent::Converted& EncodedContent::converted() {
    if (converted_ == nullptr) {
        converted_ = std::make_unique<Converted>();
    }
    return *converted_;
}

void EncodedContent::set_body() {
    if (const auto whole = whole_body(sections_)) {
        body_ = *whole;
    } else {
        body_ = converted().body = joined_body(sections_);
    }
}

/// Reads only the properties that every message needs. Returns false if they are malformed.
bool EncodedContent::set_properties() {
    are_properties_readable_ = true;
    return visit_fields(sections_.properties, MessageProperties::field_count,
                        [this](std::uint32_t index, std::string_view field) {
                            are_properties_readable_ =
                                are_properties_readable_ && is_readable(field);
                            switch (index) {
                            case MessageProperties::group_id: session_id_ = bytes_in(field); break;
                            case MessageProperties::message_id:
                                if (const auto id = bytes_in(field)) {
                                    message_id_ = *id;
                                } else {
                                    message_id_ = converted().message_id =
                                        properties().id(MessageProperties::message_id);
                                }
                                break;
                            case MessageProperties::correlation_id:
                                if (!bytes_in(field) && has_type(properties_fields[index], field)) {
                                    converted().correlation_id =
                                        properties().id(MessageProperties::correlation_id);
                                }
                                break;
                            case MessageProperties::absolute_expiry_time:
                                absolute_expiry_time_ = time_in(field);
                                break;
                            default: break;
                            }
                        });
}

/// Looks at them once: for the time left, and for entries that cannot be decoded.
void EncodedContent::set_application_properties(TimePoint now) {
    std::string_view carried;
    bool are_readable = true;
    const bool walked =
        visit_encoded_entries(sections_.application_properties, [&](const EncodedEntry& entry) {
            are_readable = are_readable && is_readable(entry);
            if (carried.empty() && entry.name == time_left_property) {
                carried = entry.value;
            }
        });
    are_properties_readable_ = are_properties_readable_ && walked && are_readable;
    if (const auto left = Decoder{carried}.read_integer()) {
        deadline_ = deadline_after(*left, now);
    }
}

std::size_t EncodedContent::bytes() const noexcept {
    return sizeof(*this) + encoded_.size() +
           (converted_ != nullptr
                ? sizeof(Converted) + converted_->body.size() + converted_->message_id.size() +
                      converted_->correlation_id.size()
                : 0);
}

std::optional<std::chrono::milliseconds> EncodedContent::time_to_live() const {
    if (!header_.time_to_live) {
        return std::nullopt;
    }
    const milliseconds most{*header_.time_to_live};
    if (*header_.time_to_live < std::numeric_limits<std::uint32_t>::max()) {
        return most;
    }
    // The header field is at its maximum, so the time to live may be longer. Creation and expiry
    // times then give it.
    const MessageProperties properties = this->properties();
    const auto instant = [&properties](MessageProperties::Field field) {
        return Decoder{properties.encoded[field]}.read_integer();
    };
    const auto created = instant(MessageProperties::creation_time);
    const auto expires = instant(MessageProperties::absolute_expiry_time);
    std::int64_t apart = 0;
    return created && expires && !__builtin_sub_overflow(*expires, *created, &apart)
               ? std::max(most, milliseconds{apart})
               : most;
}

std::optional<WallTime> EncodedContent::scheduled_enqueue_time() const {
    const auto time = annotated_time(scheduled_enqueue_time_annotation);
    return time ? time : annotated_time(delivery_time_annotation);
}

std::optional<WallTime> EncodedContent::annotated_time(std::string_view annotation) const {
    return time_in(find_entry(sections_.message_annotations, annotation));
}

std::optional<Message> EncodedContent::outline() const {
    const MessageProperties properties = this->properties();
    const auto text = [&properties](MessageProperties::Field field) {
        return std::string{properties.text(field).value_or(std::string_view{})};
    };
    auto made = std::make_optional<Message>();
    if (const auto id = session_id()) {
        made->session_id.emplace(*id);
    }
    made->message_id = message_id_;
    made->subject = text(MessageProperties::subject);
    made->correlation_id = properties.id(MessageProperties::correlation_id);
    made->reply_to = text(MessageProperties::reply_to);
    made->reply_to_session_id = text(MessageProperties::reply_to_group_id);
    made->to = text(MessageProperties::to);
    made->content_type = text(MessageProperties::content_type);
    made->partition_key =
        Decoder{find_entry(sections_.message_annotations, partition_key_annotation)}
            .read_bytes()
            .value_or(std::string_view{});
    made->time_to_live = time_to_live();
    made->priority = priority();
    // Without the JMS time: a copy of the message may go to a broker that cannot schedule.
    made->scheduled_enqueue_time = annotated_time(scheduled_enqueue_time_annotation);
    made->deadline = deadline_;
    bool all_decoded = true;
    const bool walked = visit_entries(
        sections_.application_properties, [&](std::string_view name, std::string_view encoded) {
            if (name == time_left_property) {
                return;
            }
            auto value = read_property(encoded);
            all_decoded = all_decoded && value.has_value();
            if (value) {
                made->properties.try_emplace(std::string{name}, std::move(*value)); // as `property`
            }
        });
    return walked && all_decoded ? std::move(made) : std::nullopt;
}

std::optional<PropertyValue> EncodedContent::property(std::string_view name) const {
    const std::string_view held = find_entry(sections_.application_properties, name);
    return held.empty() || name == time_left_property ? std::nullopt : read_property(held);
}

Properties EncodedContent::annotations() const {
    Properties made;
    bool all_decoded = true;
    const bool walked = visit_entries(
        sections_.message_annotations, [&](std::string_view name, std::string_view encoded) {
            auto value = read_property(encoded);
            all_decoded = all_decoded && value.has_value();
            if (value) {
                made.try_emplace(std::string{name}, std::move(*value)); // as `annotation`
            }
        });
    if (!walked || !all_decoded) {
        throw Error{malformed("message annotations")};
    }
    return made;
}

std::optional<PropertyValue> EncodedContent::annotation(std::string_view name) const {
    const std::string_view held = find_entry(sections_.message_annotations, name);
    return held.empty() ? std::nullopt : read_property(held);
}

std::string_view EncodedContent::text(TextField field) const {
    if (field == TextField::message_id) {
        return message_id_;
    }
    if (field == TextField::session_id) {
        return session_id_.value_or(std::string_view{});
    }
    if (const auto as_text = properties().text(field_of(field))) {
        return *as_text;
    }
    if (field != TextField::correlation_id) {
        return {};
    }
    if (converted_ != nullptr && !converted_->correlation_id.empty()) {
        return converted_->correlation_id;
    }
    // Of a type that the standard does not allow, if there is one.
    return properties().encoded[MessageProperties::correlation_id].empty()
               ? std::string_view{}
               : std::string_view{message().correlation_id};
}

const Message& EncodedContent::message() const {
    std::call_once(decoded_, [this] {
        if (auto decoded = outline()) {
            read_body(sections_, body_, *decoded);
            message_ = std::make_unique<const Message>(std::move(*decoded));
        }
    });
    if (message_ == nullptr) {
        throw Error{find_unreadable().value_or(malformed("application properties"))};
    }
    return *message_;
}

MessageContentPtr EncodedContent::with_changes(const ContentChanges& changes) const {
    std::string changed;
    changed.reserve(encoded_.size() + 64);
    for (const std::string_view kept :
         {sections_.header, sections_.delivery_annotations, sections_.message_annotations}) {
        changed.append(kept);
    }
    write_changed_properties(changes, changed);
    write_changed_application_properties(changes, changed);
    changed.append(sections_.body);
    changed.append(sections_.footer);
    std::shared_ptr<EncodedContent> made = copy_of(changed);
    made->sections_ = *MessageSections::find(made->encoded_);
    made->header_ = header_;
    made->set_body();
    static_cast<void>(made->set_properties());
    made->deadline_ = deadline_;
    made->are_properties_readable_ = false; // nobody has looked
    return made;
}

void EncodedContent::write_changed_properties(const ContentChanges& changes,
                                              std::string& to) const {
    if (changes.texts.empty()) {
        to.append(sections_.properties);
        return;
    }
    MessageProperties changed = properties();
    std::vector<std::string> encoded;
    encoded.reserve(changes.texts.size()); // the fields are views of these strings
    for (const auto& [text_field, text] : changes.texts) {
        const MessageProperties::Field field = field_of(text_field);
        std::string& value = encoded.emplace_back();
        if (text) {
            Encoder encoder{value};
            write_text(field, *text, encoder);
        }
        changed.encoded[field] = value;
    }
    changed.write(to);
}

void EncodedContent::write_changed_application_properties(const ContentChanges& changes,
                                                          std::string& to) const {
    if (changes.properties.empty() && changes.removed.empty()) {
        to.append(sections_.application_properties);
        return;
    }
    std::vector<std::string_view> removed{changes.removed.begin(), changes.removed.end()};
    std::ranges::sort(removed);
    Encoder encoder{to};
    encoder.write_descriptor(section::application_properties);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count =
        copy_entries(sections_.application_properties, encoder, [&](std::string_view name) {
            return changes.properties.contains(name) || std::ranges::binary_search(removed, name);
        });
    for (const auto& [name, value] : changes.properties) {
        encoder.write_string(name);
        if (const auto exactly = changes.encoded.find(name); exactly != changes.encoded.end()) {
            encoder.put_raw(exactly->second);
        } else {
            write_property(value, encoder);
        }
        count += 2;
    }
    encoder.end_map(begun, count);
}

} // namespace sessionq::amqp
