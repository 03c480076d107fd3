// SPDX-License-Identifier: MIT
#include "amqp/engine/performative.hpp"

#include <algorithm>

#include "amqp/codec/decoder.hpp"

namespace sessionq::amqp {
namespace {

using enum FieldType;

constexpr std::uint32_t most_uint = 0xffffffff;
constexpr std::uint32_t most_ushort = 0xffff;

constexpr FieldRule must(std::string_view name, FieldType type, std::uint32_t most = most_uint) {
    return {.name = name, .type = type, .mandatory = true, .most = most};
}
constexpr FieldRule may(std::string_view name, FieldType type, std::uint32_t most = most_uint,
                        std::uint32_t value = 0) {
    return {.name = name, .type = type, .most = most, .value = value};
}

constexpr std::array open_fields{
    must("container-id", text),
    may("hostname", text),
    may("max-frame-size", number, most_uint, most_uint),
    may("channel-max", number, most_ushort, most_ushort),
    may("idle-time-out", number),
    may("outgoing-locales", any),
    may("incoming-locales", any),
    may("offered-capabilities", any),
    may("desired-capabilities", any),
    may("properties", map),
};
constexpr std::array begin_fields{
    may("remote-channel", number, most_ushort),
    must("next-outgoing-id", number),
    must("incoming-window", number),
    must("outgoing-window", number),
    may("handle-max", number, most_uint, most_uint),
    may("offered-capabilities", any),
    may("desired-capabilities", any),
    may("properties", map),
};
constexpr std::array attach_fields{
    must("name", text),
    must("handle", number),
    must("role", boolean),
    may("snd-settle-mode", number, 2, 2),
    may("rcv-settle-mode", number, 1),
    may("source", any),
    may("target", any),
    may("unsettled", map),
    may("incomplete-unsettled", boolean),
    may("initial-delivery-count", number),
    may("max-message-size", any), // a ulong
    may("offered-capabilities", any),
    may("desired-capabilities", any),
    may("properties", map),
};
constexpr std::array flow_fields{
    may("next-incoming-id", number),
    must("incoming-window", number),
    must("next-outgoing-id", number),
    must("outgoing-window", number),
    may("handle", number),
    may("delivery-count", number),
    may("link-credit", number),
    may("available", number),
    may("drain", boolean),
    may("echo", boolean),
    may("properties", map),
};
constexpr std::array transfer_fields{
    must("handle", number),
    may("delivery-id", number),
    may("delivery-tag", binary),
    may("message-format", number),
    may("settled", boolean),
    may("more", boolean),
    may("rcv-settle-mode", number, 1),
    may("state", any),
    may("resume", boolean),
    may("aborted", boolean),
    may("batchable", boolean),
};
constexpr std::array disposition_fields{
    must("role", boolean),   must("first", number), may("last", number),
    may("settled", boolean), may("state", any),     may("batchable", boolean),
};
constexpr std::array detach_fields{
    must("handle", number),
    may("closed", boolean),
    may("error", any),
};
constexpr std::array end_fields{may("error", any)};
constexpr std::array error_fields{
    must("condition", text),
    may("description", text),
    may("info", map),
};
constexpr std::array source_fields{
    may("address", any),           may("durable", any),      may("expiry-policy", any),
    may("timeout", any),           may("dynamic", boolean),  may("dynamic-node-properties", map),
    may("distribution-mode", any), may("filter", map),       may("default-outcome", any),
    may("outcomes", any),          may("capabilities", any),
};
constexpr std::array target_fields{
    may("address", any),      may("durable", any),     may("expiry-policy", any),
    may("timeout", any),      may("dynamic", boolean), may("dynamic-node-properties", map),
    may("capabilities", any),
};
constexpr std::array coordinator_fields{
    may("capabilities", any),
};

constexpr CompositeRule rule(std::uint8_t code, std::string_view name,
                             std::span<const FieldRule> fields) {
    std::size_t least = 0;
    for (std::size_t index = 0; index < fields.size(); ++index) {
        least = fields[index].mandatory ? index + 1 : least;
    }
    return {.code = code, .name = name, .fields = fields, .least = least};
}

constexpr std::array performatives{
    rule(Performative::open, "open", open_fields),
    rule(Performative::begin, "begin", begin_fields),
    rule(Performative::attach, "attach", attach_fields),
    rule(Performative::flow, "flow", flow_fields),
    rule(Performative::transfer, "transfer", transfer_fields),
    rule(Performative::disposition, "disposition", disposition_fields),
    rule(Performative::detach, "detach", detach_fields),
    rule(Performative::end, "end", end_fields),
    rule(Performative::close, "close", end_fields),
};
constexpr CompositeRule error_rule = rule(Performative::error, "error", error_fields);
constexpr CompositeRule source_rule = rule(Performative::source, "source", source_fields);
constexpr CompositeRule target_rule = rule(Performative::target, "target", target_fields);
constexpr CompositeRule coordinator_rule =
    rule(Performative::coordinator, "coordinator", coordinator_fields);

std::optional<std::uint64_t> unsigned_of(std::string_view value) noexcept {
    return Decoder{value}.read_unsigned();
}

constexpr unsigned bit(FieldType type) noexcept { return 1U << static_cast<unsigned>(type); }

// Which types the constructor codes belong to.
constexpr std::array<std::uint8_t, 256> types_of_codes = [] {
    std::array<std::uint8_t, 256> types{};
    for (std::size_t code = 0; code < types.size(); ++code) {
        unsigned found = bit(any);
        const auto may_be = [&](FieldType type, bool is) { found |= is ? bit(type) : 0; };
        may_be(boolean, code == 0x41 || code == 0x42 || code == 0x56);
        may_be(number, constructor::is_unsigned(static_cast<std::uint8_t>(code)));
        may_be(text, code == 0xa1 || code == 0xa3 || code == 0xb1 || code == 0xb3);
        may_be(binary, code == 0xa0 || code == 0xb0);
        may_be(map, code == 0xc1 || code == 0xd1);
        types[code] = static_cast<std::uint8_t>(found);
    }
    return types;
}();

bool fits(const FieldRule& rule, std::string_view value) noexcept {
    const auto code = static_cast<std::uint8_t>(value.front());
    if ((types_of_codes[code] & bit(rule.type)) == 0) {
        return false;
    }
    if (rule.type != number) {
        return code != 0x56 || static_cast<std::uint8_t>(value[1]) <= 1; // a boolean
    }
    if (code == 0x52) { // most numbers on the wire
        return static_cast<std::uint8_t>(value[1]) <= rule.most;
    }
    return unsigned_of(value).value_or(0) <= rule.most;
}

} // namespace

const CompositeRule* rule_of(std::uint8_t code) noexcept {
    const std::size_t index = std::size_t{code} - Performative::open;
    if (code >= Performative::open && index < performatives.size()) {
        return &performatives[index];
    }
    switch (code) {
    case Performative::error: return &error_rule;
    case Performative::source: return &source_rule;
    case Performative::target: return &target_rule;
    case Performative::coordinator: return &coordinator_rule;
    default: return nullptr;
    }
}

std::size_t fields_of_type(std::uint8_t code) noexcept {
    const CompositeRule* const rule = rule_of(code);
    return rule != nullptr ? rule->fields.size() : 0;
}

std::optional<Fields> Fields::read(std::string_view bytes, std::string& fault) {
    std::optional<Fields> made;
    Decoder decoder{bytes};
    const auto code = decoder.read_descriptor();
    const auto list = code && *code <= 0xff ? decoder.read_list() : std::nullopt;
    if (!list) {
        fault = "the peer sent a frame without a performative";
        return made;
    }
    made.emplace().rule_ = rule_of(static_cast<std::uint8_t>(*code));
    if (made->rule_ == nullptr) {
        fault = "the peer sent a performative that does not exist";
        made.reset();
    } else if (!made->take(list->count, list->items, fault)) {
        made.reset();
    } else {
        made->payload_ = decoder.rest();
    }
    return made;
}

bool Fields::take(std::uint32_t count, std::string_view items, std::string& fault) {
    const auto fails = [&](std::string_view what) {
        fault = std::string{rule_->name}.append(": ").append(what);
        return false;
    };
    if (count > rule_->fields.size()) {
        return fails("there are too many fields");
    }
    const char* at = items.data();
    const char* const end = at + items.size();
    for (std::size_t index = 0; index < count; ++index) {
        const FieldRule& rule = rule_->fields[index];
        if (at != end && *at == encoded_null) {
            if (rule.mandatory) {
                return fails(std::string{rule.name}.append(" is missing"));
            }
            ++at;
            continue;
        }
        const std::size_t size = encoded_size({at, end}, Decoder::deepest);
        const std::string_view field{at, size};
        if (size == 0 || !fits(rule, field)) {
            return fails(std::string{rule.name}.append(size != 0 ? " has a wrong value"
                                                                 : " is not a value"));
        }
        fields_[index] = field;
        at += size;
    }
    if (count < rule_->least) {
        const auto missing =
            std::ranges::find_if(rule_->fields.subspan(count), &FieldRule::mandatory);
        return fails(std::string{missing->name}.append(" is missing"));
    }
    return at == end || fails("there are bytes behind the last field");
}

std::uint32_t Fields::any_number(std::size_t index) const noexcept {
    const std::string_view value = fields_[index];
    if (value.empty()) {
        return rule_->fields[index].value;
    }
    const std::uint64_t number =
        value.front() == '\x70' ? number_at<4>(value.data() + 1) : *unsigned_of(value);
    return static_cast<std::uint32_t>(number);
}

std::uint64_t Fields::long_number(std::size_t index) const noexcept {
    return has(index) ? unsigned_of(fields_[index]).value_or(0) : 0;
}

bool Fields::is_true(std::size_t index) const noexcept {
    const std::string_view value = fields_[index];
    return !value.empty() &&
           (value.front() == '\x41' || (value.front() == '\x56' && value[1] != '\0'));
}

std::string_view Fields::text(std::size_t index) const noexcept {
    return bytes_in(fields_[index]).value_or(std::string_view{});
}

} // namespace sessionq::amqp
