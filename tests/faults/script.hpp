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
    half_close, ///< FIN in one direction, the other goes on
    stall,      ///< holds bytes back for a time, then delivers them
    delay,      ///< delivers all bytes later, with jitter, in order
    throttle,   ///< so many bytes a second
    trickle,    ///< one byte a segment
    black_hole, ///< nothing passes any more, in either direction, and no end is told
    clog,       ///< stalls them one after another, and lets go in random order
    refuse,     ///< for a time nobody listens
    reject,     ///< for a time new connections are reset as soon as they are there
    swallow,    ///< for a time new connections are black holes
};
inline constexpr std::size_t fault_kinds = 12;

/// Towards the broker, towards the client.
enum class Way : std::uint8_t { up, down, both };

struct Fault {
    FaultKind kind{FaultKind::reset};
    Duration at{};         ///< after the start
    std::size_t count{1};  ///< how many connections; zero: all
    Way way{Way::both};    ///< half_close, stall, delay, throttle, trickle
    Duration length{};     ///< stall, delay, throttle, trickle, clog, refuse, reject, swallow
    Duration delay{};      ///< delay
    Duration jitter{};     ///< delay: up to this much more
    std::uint64_t rate{0}; ///< throttle: bytes a second

    friend bool operator==(const Fault&, const Fault&) = default;
};

/// In the order of their time.
using Script = std::vector<Fault>;

/// Names the line and what is wrong with it.
class ScriptError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One fault a line, in any order; `#` begins a comment:
///   TIME KIND [conns=N|all] [way=up|down|both] [for=TIME] [delay=TIME] [jitter=TIME] [rate=BYTES]
/// TIME is a number with the unit us, ms or s. What a kind needs must be there, and what it has no
/// use for must not.
[[nodiscard]] Script parse_script(std::string_view text);

/// The same from a file.
[[nodiscard]] Script read_script(const std::string& file);

/// As `parse_script` reads it.
[[nodiscard]] std::string to_text(const Script& script);

[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;

/// How a campaign is drawn.
struct CampaignPlan {
    std::uint64_t seed{1};
    std::size_t faults{200};
    Duration length{std::chrono::seconds{180}};        ///< over which they are spread
    Duration longest{std::chrono::milliseconds{3000}}; ///< of a fault that lasts
};

/// Faults of all kinds at random instants. The same plan, the same script.
[[nodiscard]] Script draw_campaign(const CampaignPlan& plan);

} // namespace sessionq::faults
