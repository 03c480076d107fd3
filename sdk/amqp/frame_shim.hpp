#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sessionq::amqp {

class Fields;

/// Settles at the byte stream's edge what the engine below cannot: performatives are written with
/// all their fields, a begin names its handle-max, message formats travel inside the delivery tag
/// between here and the links (`tag_with_format`), a server hears nothing of what a peer says to a
/// channel or link that it has left itself, and a client hears the close of a peer that refuses it
/// with an open nobody could work with (Broker-J: frames of no size). Pure; streams may be cut
/// anywhere. Nothing else in the tree knows what it does.
class FrameShim {
public:
    /// What widening may add to a frame. Taken off the frame sizes both sides are told.
    static constexpr std::uint32_t reserve = 128;
    /// Peers of a server count handles from zero to this.
    static constexpr std::uint32_t handle_max = 1023;

    /// `largest_frame`: what the peer may send at most; zero: anything.
    explicit FrameShim(bool is_server, std::uint32_t largest_frame = 0) noexcept
        : is_server_{is_server}, largest_frame_{largest_frame} {}

    /// From the engine to the peer: appends to `to` what has become of the whole frames seen so
    /// far. False: the bytes are not frames.
    bool outbound(std::string_view bytes, std::string& to);
    /// From the peer to the engine. Takes what it has seen from the front of `bytes`: all of it but
    /// after an open or begin that a server has to answer before it hears more, and, for a client,
    /// after a frame that was cut in two, since what follows may be `passing`. False: the bytes are
    /// not frames, or say what no peer may.
    bool inbound(std::string_view& bytes, std::string& to);
    /// How much of `bytes` the engine may have as it is, before the rest goes through `inbound`:
    /// whole frames, of which a client has nothing to change.
    [[nodiscard]] std::size_t passing(std::string_view bytes) const noexcept;
    /// The highest handle the peer lets this side use, as it said in its first begin.
    [[nodiscard]] std::uint32_t peers_handle_max() const noexcept { return peers_handle_max_; }
    /// Whether the outbound stream is between two frames.
    [[nodiscard]] bool is_outbound_aligned() const noexcept {
        return out_.partial.empty() && out_.past_header;
    }

private:
    struct Direction {
        std::string partial{}; ///< of a frame, or of the protocol header
        bool past_header{false};
    };
    using Handles = std::bitset<handle_max + 1>;

    [[nodiscard]] static std::size_t size_of_frame(std::string_view begun,
                                                   std::uint32_t largest) noexcept;
    template <typename Rewrite>
    bool walk(Direction& direction, std::uint32_t largest, std::string_view& bytes, std::string& to,
              Rewrite rewrite);
    bool rewrite_outbound(std::string_view frame, std::string& to);
    bool rewrite_inbound(std::string_view frame, std::string& to);
    bool rewrite_inbound_open(std::string_view frame, std::string& to);
    bool follow(std::uint16_t channel, const Fields& fields);
    [[nodiscard]] bool may_pass() const noexcept {
        return !is_server_ && seen_begin_ && unfinished_.empty();
    }

    const bool is_server_;
    const std::uint32_t largest_frame_;
    std::uint32_t peers_handle_max_{0xffffffffU};
    bool wants_answer_{false};
    bool seen_open_{false};
    bool is_refused_{false}; // only a close may follow
    bool seen_begin_{false};
    Direction out_{};
    Direction in_{};
    std::unordered_map<std::uint16_t, Handles>
        channels_{};                          // the peer's, and what it has attached there
    std::vector<std::uint64_t> unfinished_{}; // links in the midst of a message of several frames
    std::string scratch_{};
};

/// The longest a delivery tag may be.
inline constexpr std::size_t longest_tag = 32;

/// A delivery tag with room for the message format it carries.
struct TagBuffer {
    std::array<char, longest_tag + 4> bytes{};
    std::size_t size{0};
};
/// Of a longer tag the first `longest_tag` bytes.
[[nodiscard]] TagBuffer tag_with_format(std::string_view tag,
                                        std::uint32_t message_format) noexcept;
struct FormattedTag {
    std::string_view tag{};
    std::uint32_t message_format{0};
};
[[nodiscard]] FormattedTag split_tag(std::string_view tag) noexcept;

} // namespace sessionq::amqp
