// SPDX-License-Identifier: MIT
#include "client/sending/message_id.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/random.hpp"
#include "core/uuid.hpp"

namespace sessionq::client {
namespace {

core::Random seeded() {
    const core::Uuid entropy = core::Uuid::make();
    std::uint64_t seed = 0;
    std::memcpy(&seed, entropy.bytes.data() + 8, sizeof seed);
    return core::Random{seed};
}

} // namespace

std::string make_message_id() {
    // Two generators with separate seeds, because 64 bits of state do not keep ids apart.
    thread_local core::Random high = seeded();
    thread_local core::Random low = seeded();
    core::Uuid id = core::Uuid::make(high);
    const core::Uuid other = core::Uuid::make(low);
    std::copy(other.bytes.begin() + 8, other.bytes.end(), id.bytes.begin() + 8);
    return id.to_string();
}

} // namespace sessionq::client
