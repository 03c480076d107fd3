// SPDX-License-Identifier: MIT
// States of sessions from a broker. What is opened seals to the same parts, and a record of other
// bytes gives no delay without end.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ports/state_envelope.hpp"
#include "processor/session/session_record.hpp"

using namespace sessionq;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes{reinterpret_cast<const char*>(data), size};
    const ports::StateEnvelope opened = ports::StateEnvelope::open(bytes);
    const ports::StateEnvelope again =
        ports::StateEnvelope::open(ports::StateEnvelope{opened}.seal());
    if (again.application != opened.application || again.record != opened.record) {
        std::abort();
    }
    const auto record = detail::processor::SessionRecord::read(opened.record);
    const auto left = record.left(WallTime{std::chrono::hours{500'000}});
    if (left.value_or(Duration::zero()) < Duration::zero() ||
        left.value_or(Duration::zero()) > std::chrono::years{1}) {
        std::abort();
    }
    return 0;
}
