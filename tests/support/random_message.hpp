// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "amqp/codec/value.hpp"
#include "core/random.hpp"

namespace sessionq::tests {

/// What a random message may have. All of it is valid AMQP 1.0.
struct RandomMessageOptions {
    /// The group-id. Unset: the message has none.
    std::optional<std::string> session_id{"s"};

    /// Lists, maps, arrays and unknown described values in application properties. The standard
    /// has simple types only there, but peers send them.
    bool nested_properties{true};

    /// Binary values in application properties. Azure Service Bus refuses them.
    bool binary_properties{true};

    /// Timestamps of any 64 bits. Without them: of the years 1 to 9999.
    bool any_timestamp{true};

    /// A footer and delivery annotations, which many brokers drop.
    bool hop_sections{true};
};

/// An encoded message of random sections, types and forms: all primitive types, the described ones
/// of Microsoft's .NET client, each body kind, and also encodings that are longer than necessary.
/// It does not expire within years and is available at once. The same seed gives the same message.
[[nodiscard]] std::string random_message(core::Random& random,
                                         const RandomMessageOptions& options = {});

/// A random value of any type, nested up to `depth` levels.
[[nodiscard]] amqp::Value random_value(core::Random& random, int depth,
                                       const RandomMessageOptions& options = {});

/// Encodes a value. Each part of it has any of its type's forms.
[[nodiscard]] std::string encode_in_any_form(const amqp::Value& value, core::Random& random);

/// The bytes with one to three of them changed, added or left out: mostly constructor codes, sizes
/// and counts, which make a message that is nearly valid.
[[nodiscard]] std::string damaged(std::string bytes, core::Random& random);

/// One value of each type that an application property may have, in a fixed order: the 20 that
/// Microsoft's .NET client sends, and those that other clients send beside them.
[[nodiscard]] std::vector<amqp::Value> values_of_every_type();

} // namespace sessionq::tests
