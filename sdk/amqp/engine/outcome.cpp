// SPDX-License-Identifier: MIT
#include "amqp/engine/outcome.hpp"

#include <algorithm>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {
namespace {

bool is_map(std::string_view encoded) noexcept {
    return encoded.front() == '\xc1' || encoded.front() == '\xd1';
}

} // namespace

OutcomeKind Outcome::kind_of(std::string_view encoded) noexcept {
    if (encoded.empty()) {
        return OutcomeKind::none;
    }
    const auto code = Decoder{encoded}.read_descriptor().value_or(0);
    const bool is_known = (code >= static_cast<std::uint64_t>(OutcomeKind::received) &&
                           code <= static_cast<std::uint64_t>(OutcomeKind::modified)) ||
                          code == static_cast<std::uint64_t>(OutcomeKind::transactional);
    return is_known ? static_cast<OutcomeKind>(code) : OutcomeKind::other;
}

Outcome Outcome::read(std::string_view encoded) {
    Outcome outcome{.kind = kind_of(encoded)};
    Decoder decoder{encoded};
    const auto list = decoder.read_descriptor() ? decoder.read_list() : std::nullopt;
    if (!list) {
        return outcome;
    }
    Decoder fields{list->items};
    if (outcome.kind == OutcomeKind::rejected) {
        if (const auto error = fields.skip(); error && error->front() != '\x40') {
            outcome.error = read_condition(*error);
        }
    } else if (outcome.kind == OutcomeKind::modified) {
        for (bool* const said : {&outcome.delivery_failed, &outcome.undeliverable_here}) {
            *said = !fields.read_null() && fields.read_boolean().value_or(false);
        }
        if (const auto annotations = fields.skip(); annotations && is_map(*annotations)) {
            outcome.annotations = *annotations;
        }
    }
    return outcome;
}

bool Outcome::is_final() const noexcept {
    return kind >= OutcomeKind::accepted && kind <= OutcomeKind::modified;
}

Outcome Outcome::without_details(std::size_t most) const {
    return {.kind = kind,
            .error = shortened(error, most),
            .delivery_failed = delivery_failed,
            .undeliverable_here = undeliverable_here};
}

bool Outcome::is_plain() const noexcept {
    return (kind != OutcomeKind::rejected || error.empty()) && kind != OutcomeKind::modified;
}

void Outcome::write(std::string& to) const {
    if (!is_final()) {
        return;
    }
    Encoder encoder{to};
    encoder.write_descriptor(static_cast<std::uint8_t>(kind));
    if (is_plain()) {
        encoder.put_raw("\x45"); // no fields
        return;
    }
    const std::size_t begun = encoder.begin_list();
    if (kind == OutcomeKind::rejected) {
        write_condition(to, error);
        encoder.end_list(begun, 1);
        return;
    }
    encoder.write_boolean(delivery_failed);
    encoder.write_boolean(undeliverable_here);
    if (annotations.empty()) {
        encoder.write_null();
    } else {
        encoder.put_raw(annotations);
    }
    encoder.end_list(begun, 3);
}

Condition read_condition(std::string_view encoded) {
    if (encoded.empty()) {
        return {};
    }
    std::string fault;
    const auto fields = Fields::read(encoded, fault);
    if (!fields || fields->code() != Performative::error) {
        return {.name = "amqp:decode-error", .text = "the peer's error cannot be decoded"};
    }
    return {.name = std::string{fields->text(error_field::condition)},
            .text = std::string{fields->text(error_field::description)},
            .info = std::string{fields->raw(error_field::info)}};
}

Condition shortened(Condition condition, std::size_t most) {
    if (condition.name.size() > most) {
        condition.name = "amqp:internal-error";
    }
    if (condition.name.size() + condition.text.size() + condition.info.size() > most) {
        condition.info.clear();
        std::size_t kept =
            std::min(condition.text.size(), most - std::min(most, condition.name.size()));
        const auto is_in_character = [&](std::size_t at) { // UTF-8
            return (static_cast<unsigned char>(condition.text[at]) & 0xc0U) == 0x80U;
        };
        while (kept != 0 && kept < condition.text.size() && is_in_character(kept)) {
            --kept;
        }
        condition.text.resize(kept);
    }
    return condition;
}

void write_condition(std::string& to, const Condition& condition) {
    if (condition.empty()) {
        return;
    }
    CompositeWriter writer{to, Performative::error};
    writer.symbol(error_field::condition, condition.name);
    if (!condition.text.empty()) {
        writer.string(error_field::description, condition.text);
    }
    writer.raw(error_field::info, condition.info);
    writer.finish();
}

std::string encode_condition(const Condition& condition, std::size_t most) {
    std::string encoded;
    if (!condition.empty()) {
        write_condition(encoded, shortened(condition, most));
    }
    return encoded;
}

} // namespace sessionq::amqp
