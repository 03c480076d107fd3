// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq::faults {

/// What a proxy does to connections.
enum class FaultKind : std::uint8_t {
    reset,      ///< ends them with RST
    finish,     ///< ends them with FIN
    half_close, ///< sends FIN in one direction; the other continues
    stall,      ///< holds bytes for a time, then forwards them
    delay,      ///< forwards all bytes later, with jitter, in order
    throttle,   ///< limits the bytes per second
    trickle,    ///< forwards one byte a segment
    black_hole, ///< forwards nothing in either direction, not even an end
    clog,       ///< stalls them one after another and releases them in random order
    refuse,     ///< nobody listens for a time
    reject,     ///< new connections are reset at once for a time
    swallow,    ///< new connections are black holes for a time
};
inline constexpr std::size_t fault_kinds = 12;

/// Towards the broker, towards the client.
enum class Way : std::uint8_t { up, down, both };

struct Fault {
    FaultKind kind{FaultKind::reset};
    Duration at{};         ///< after the start
    std::size_t count{1};  ///< number of connections; zero: all
    Way way{Way::both};    ///< for half_close, stall, delay, throttle, trickle
    Duration length{};     ///< for stall, delay, throttle, trickle, clog, refuse, reject, swallow
    Duration delay{};      ///< for delay
    Duration jitter{};     ///< for delay: the largest extra delay
    std::uint64_t rate{0}; ///< for throttle: bytes a second

    friend bool operator==(const Fault&, const Fault&) = default;
};

/// Ordered by time.
using Script = std::vector<Fault>;

/// Names the line and its error.
class ScriptError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Reads one fault per line, in any order. `#` begins a comment.
///   TIME KIND [conns=N|all] [way=up|down|both] [for=TIME] [delay=TIME] [jitter=TIME]
///             [rate=BYTES]
/// TIME is a number with the unit us, ms or s. Each kind needs exactly its own options. A fault
/// meets the connections that there are at its TIME.
[[nodiscard]] Script parse_script(std::string_view text);

/// Reads a script from a file.
[[nodiscard]] Script read_script(const std::string& file);

/// Writes the format that `parse_script` reads.
[[nodiscard]] std::string to_text(const Script& script);

[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;

/// The plan of a random campaign.
struct CampaignPlan {
    std::uint64_t seed{1};
    std::size_t faults{200};
    Duration length{std::chrono::seconds{180}};        ///< the time over which faults are spread
    Duration longest{std::chrono::milliseconds{3000}}; ///< the longest duration of a fault
};

/// Draws faults of all kinds at random times. The same plan gives the same script.
[[nodiscard]] Script draw_campaign(const CampaignPlan& plan);

} // namespace sessionq::faults
