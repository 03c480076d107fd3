// SPDX-License-Identifier: MIT
#include "amqp/engine/frame.hpp"

#include <algorithm>
#include <utility>

#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::uint8_t amqp_type = 0;
constexpr std::size_t usual_size = std::size_t{64} << 10U;

std::uint8_t byte(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<std::uint8_t>(bytes[at]);
}

} // namespace

std::size_t begin_frame(std::string& to, std::uint16_t channel) {
    const std::size_t begun = to.size();
    to.append(empty_frame);
    core::put_number<2>(to.data() + begun + 6, channel);
    return begun;
}

void end_frame(std::string& to, std::size_t begun) noexcept {
    core::put_number<4>(to.data() + begun, to.size() - begun);
}

// Of a whole header. Nothing if it is wrong.
std::optional<std::size_t> FrameReader::size_of(std::string_view bytes) noexcept {
    const std::size_t size = core::number_at<4>(bytes.data());
    const std::size_t offset = std::size_t{byte(bytes, 4)} * 4;
    if (offset < frame_header_size || offset > size) {
        fault_ = "what the peer sent is no frame: it is smaller than its header";
    } else if (largest_ != 0 && size > largest_) {
        fault_ = "what the peer sent is no frame, or one larger than this side allows";
    } else if (byte(bytes, 5) != amqp_type) {
        fault_ = "a frame is not of the type AMQP";
    } else {
        return size;
    }
    return std::nullopt;
}

bool FrameReader::collect(std::string_view& bytes, std::size_t size) {
    const std::size_t missing = size - std::min(size, partial_.size());
    const std::size_t taken = std::min(missing, bytes.size());
    partial_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    return taken == missing;
}

FrameReader::Found FrameReader::next(std::string_view& bytes) {
    if (std::exchange(is_partial_told_, false)) {
        partial_.clear();
        if (partial_.capacity() > usual_size) {
            std::string{}.swap(partial_);
        }
    }
    if (!has_header_) {
        return read_header(bytes);
    }
    if (partial_.empty() && bytes.size() >= frame_header_size) {
        const auto size = size_of(bytes);
        if (!size) {
            return Found::fault;
        }
        if (*size <= bytes.size()) {
            tell(bytes.substr(0, *size));
            bytes.remove_prefix(*size);
            return Found::frame;
        }
    }
    if (!collect(bytes, frame_header_size)) {
        return Found::more;
    }
    const auto size = size_of(partial_);
    if (!size) {
        return Found::fault;
    }
    if (!collect(bytes, *size)) {
        return Found::more;
    }
    is_partial_told_ = true;
    tell(partial_);
    return Found::frame;
}

FrameReader::Found FrameReader::read_header(std::string_view& bytes) {
    has_header_ = collect(bytes, protocol_header.size());
    if (partial_ != protocol_header.substr(0, partial_.size())) {
        fault_ = partial_.starts_with("AMQP\3") ? "the peer asks for SASL"
                                                : "the peer does not speak AMQP 1.0";
        return Found::fault;
    }
    if (has_header_) {
        partial_.clear();
    }
    return has_header_ ? Found::header : Found::more;
}

void FrameReader::tell(std::string_view bytes) noexcept {
    frame_.channel = static_cast<std::uint16_t>(core::number_at<2>(bytes.data() + 6));
    frame_.body = bytes.substr(std::size_t{byte(bytes, 4)} * 4);
}

} // namespace sessionq::amqp
