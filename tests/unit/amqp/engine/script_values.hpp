// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "amqp/codec/encoder.hpp"
#include "amqp/engine/attach.hpp"
#include "amqp/engine/outcome.hpp"

namespace sessionq::test {

/// What a seed chooses. The encoded parts are small: an attach must fit into a frame of 512 bytes.
class ScriptValues {
public:
    explicit ScriptValues(std::uint64_t seed) : random_{seed} {}

    std::size_t below(std::size_t most) { return random_() % most; }
    bool chance(std::size_t one_in) { return below(one_in) == 0; }

    amqp::Condition condition() {
        if (chance(2)) {
            return {};
        }
        return {.name = chance(2) ? "amqp:not-found" : "com.example:refused",
                .text = chance(3) ? "" : "because of " + std::to_string(below(1000)),
                .info = chance(4) ? map() : ""};
    }

    amqp::Outcome outcome() {
        switch (below(4)) {
        case 0: return {.kind = amqp::OutcomeKind::accepted};
        case 1: return {.kind = amqp::OutcomeKind::rejected, .error = condition()};
        case 2: return {.kind = amqp::OutcomeKind::released};
        default:
            return {.kind = amqp::OutcomeKind::modified,
                    .delivery_failed = chance(2),
                    .undeliverable_here = chance(2),
                    .annotations = chance(2) ? map() : ""};
        }
    }

    std::string map() {
        using amqp::Value;
        switch (below(3)) {
        case 0: return amqp::encode(Value::map({}));
        case 1:
            return amqp::encode(
                Value::map({{Value::symbol("number"), static_cast<std::uint32_t>(random_())},
                            {Value::symbol("text"), std::string(below(20), 'x')},
                            {Value::symbol("flag"), chance(2)}}));
        default:
            return amqp::encode(
                Value::map({{Value::symbol("long"), static_cast<std::int64_t>(random_())},
                            {Value::symbol("list"), Value::list({std::uint32_t{0}, {}})}}));
        }
    }

    amqp::Terminus terminus(bool is_source) {
        using amqp::Value;
        amqp::Terminus made;
        made.dynamic = chance(8);
        // Proton takes a terminus without an address for none.
        made.address = made.dynamic ? "" : "orders/" + std::to_string(below(100));
        if (made.dynamic && chance(2)) {
            made.properties = map();
        }
        if (is_source && chance(3)) {
            made.filter = amqp::encode(
                Value::map({{Value::symbol("selector"),
                             Value::described(Value::symbol("apache.org:selector-filter:string"),
                                              "a > " + std::to_string(below(9)))},
                            {Value::symbol("session"), std::string{"blue"}}}));
        }
        made.present = !chance(20);
        return made.present ? made : amqp::Terminus{.present = false};
    }

    amqp::Attach new_attach() {
        return {.source = terminus(true),
                .target = terminus(false),
                .sender_mode = static_cast<amqp::SenderSettleMode>(below(3)),
                .receiver_mode = static_cast<amqp::ReceiverSettleMode>(below(2)),
                .properties = chance(3) ? map() : "",
                .max_message_size = chance(3) ? std::uint64_t{1} << (20U + below(40)) : 0};
    }

private:
    std::mt19937_64 random_;
};

} // namespace sessionq::test
