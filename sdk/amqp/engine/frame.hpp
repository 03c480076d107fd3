// SPDX-License-Identifier: MIT
#pragma once

// Frames of AMQP 1.0, part 2, section 2.3.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sessionq::amqp {

inline constexpr std::string_view protocol_header{"AMQP\0\1\0\0", 8};
/// A frame without a performative. It only shows that its sender is alive.
inline constexpr std::string_view empty_frame{"\0\0\0\x08\x02\0\0\0", 8};
inline constexpr std::size_t frame_header_size = 8;
/// The smallest max-frame-size that a peer may name.
inline constexpr std::uint32_t smallest_max_frame_size = 512;

struct Frame {
    std::uint16_t channel{0};
    std::string_view body{}; ///< a performative and its payload; empty: a heartbeat
};

/// Appends the header of a frame whose body follows, and returns where it stands.
[[nodiscard]] std::size_t begin_frame(std::string& to, std::uint16_t channel);
/// The frame ends with the last byte of `to`.
void end_frame(std::string& to, std::size_t begun) noexcept;

/// Appends a frame whose body `write` appends. False: it would be larger than `largest`, and
/// nothing was appended.
template <typename Write>
bool write_frame(std::string& to, std::uint16_t channel, std::size_t largest, Write write) {
    const std::size_t begun = begin_frame(to, channel);
    write();
    if (to.size() - begun > largest) {
        to.resize(begun);
        return false;
    }
    end_frame(to, begun);
    return true;
}

/// Cuts the bytes that arrive into the protocol header and frames. Keeps a frame only until the
/// rest of it has come; whole frames stay where they are.
class FrameReader {
public:
    /// `largest`: the largest frame that the peer may send; zero: any size.
    explicit FrameReader(std::uint32_t largest) noexcept : largest_{largest} {}

    enum class Found { frame, header, more, fault };

    /// Takes bytes from the front of `bytes` until something is found, or needs more of them.
    [[nodiscard]] Found next(std::string_view& bytes);
    /// Of the frame just found; its body lives until `next` or the bytes given to it end.
    [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
    [[nodiscard]] const char* fault() const noexcept { return fault_; }
    /// Bytes kept of a frame that has not come in whole.
    [[nodiscard]] std::size_t held() const noexcept { return partial_.size(); }
    /// The memory that they take, in bytes.
    [[nodiscard]] std::size_t memory() const noexcept { return partial_.capacity(); }

private:
    [[nodiscard]] std::optional<std::size_t> size_of(std::string_view bytes) noexcept;
    /// Moves bytes to `partial_` until it holds `size`.
    [[nodiscard]] bool collect(std::string_view& bytes, std::size_t size);
    [[nodiscard]] Found read_header(std::string_view& bytes);
    void tell(std::string_view bytes) noexcept;

    const std::uint32_t largest_;
    Frame frame_{};
    std::string partial_{};
    const char* fault_{nullptr};
    bool has_header_{false};
    bool is_partial_told_{false}; // it was the last frame
};

} // namespace sessionq::amqp
