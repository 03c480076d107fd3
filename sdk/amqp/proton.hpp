#pragma once

// Between Proton's types and ours; for amqp/'s own sources.

#include <string>
#include <string_view>

#include <proton/codec.h>
#include <proton/condition.h>
#include <proton/terminus.h>

#include "amqp/condition.hpp"
#include "amqp/link.hpp"

namespace sessionq::amqp::proton {

/// What `data` holds, encoded; empty for nothing.
[[nodiscard]] std::string encoded(pn_data_t* data);
/// Puts encoded values into `data` in place of what it held.
void set(pn_data_t* data, std::string_view encoded);

[[nodiscard]] Condition read(pn_condition_t* condition);
/// Empty: clears it.
void set(pn_condition_t* condition, const Condition& to);

[[nodiscard]] Terminus read(pn_terminus_t* terminus);
void set(pn_terminus_t* terminus, const Terminus& to, bool is_source);

inline std::string text(const char* held) {
    return held != nullptr ? std::string{held} : std::string{};
}

} // namespace sessionq::amqp::proton
