#include "amqp/frame_shim.hpp"

#include <algorithm>
#include <optional>

#include "amqp/performative.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::size_t header_size = 8;
constexpr std::size_t trailer_size = 4;
constexpr std::uint32_t smallest_frame = 512; // of the standard
constexpr std::size_t most_unfinished = 1024; // messages at a time; a peer needs few

std::uint32_t uint_at(std::string_view bytes) noexcept {
    return static_cast<std::uint32_t>(core::number_at<4>(bytes.data()));
}

/// A uint as five bytes.
class EncodedUint {
public:
    explicit EncodedUint(std::uint32_t value) noexcept {
        core::put_number<4>(bytes_.data() + 1, value);
    }
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), bytes_.size()}; }

private:
    std::array<char, 5> bytes_{'\x70'};
};

/// A tag as a binary.
class EncodedTag {
public:
    void set(std::string_view tag) noexcept {
        bytes_[0] = '\xa0';
        bytes_[1] = static_cast<char>(tag.size());
        std::copy(tag.begin(), tag.end(), bytes_.begin() + 2);
        size_ = tag.size() + 2;
    }
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), size_}; }

private:
    std::array<char, 2 + longest_tag + trailer_size> bytes_{};
    std::size_t size_{0};
};

std::size_t offset_of(std::string_view frame) noexcept {
    return static_cast<std::size_t>(static_cast<std::uint8_t>(frame[4])) * 4;
}

bool is_amqp(std::string_view frame) noexcept { return frame[5] == 0; }

/// The performative and what follows it; empty for a frame that keeps the connection alive.
std::string_view body_of(std::string_view frame) noexcept { return frame.substr(offset_of(frame)); }

std::uint16_t channel_of(std::string_view frame) noexcept {
    return static_cast<std::uint16_t>(core::number_at<2>(frame.data() + 6));
}

/// Which field of a performative, if any, strict peers read by position too.
constexpr std::array<std::size_t, 2> nested_fields(std::uint8_t code) noexcept {
    switch (code) {
    case Performative::attach: return {5, 6};
    case Performative::detach: return {2, Fields::most};
    default: return {0, Fields::most}; // end and close
    }
}

void put_frame(std::string_view frame, const Fields& fields, std::string& to) {
    const std::size_t start = to.size();
    to.append(frame.substr(0, offset_of(frame)));
    fields.write(to);
    to.append(fields.payload());
    core::put_number<4>(to.data() + start, to.size() - start);
}

std::uint64_t link_key(std::uint16_t channel, std::uint32_t handle) noexcept {
    return std::uint64_t{channel} << 32U | handle;
}

/// Whether a transfer is a whole message by itself.
bool is_whole(const Fields& transfer) noexcept {
    return transfer.number(1) && !transfer.is_true(5);
}

/// An open's max-frame-size less the reserve. False: too little would be left.
bool shrink_frame_size(const Fields& fields, std::optional<EncodedUint>& to) noexcept {
    const auto size = fields.number(2);
    if (!size) {
        return true; // not limited
    }
    if (*size < smallest_frame + FrameShim::reserve) {
        return false;
    }
    to.emplace(*size - FrameShim::reserve);
    return true;
}

} // namespace

TagBuffer tag_with_format(std::string_view tag, std::uint32_t message_format) noexcept {
    TagBuffer made;
    const std::string_view kept = tag.substr(0, longest_tag);
    std::copy(kept.begin(), kept.end(), made.bytes.begin());
    core::put_number<4>(made.bytes.data() + kept.size(), message_format);
    made.size = kept.size() + trailer_size;
    return made;
}

FormattedTag split_tag(std::string_view tag) noexcept {
    if (tag.size() < trailer_size) {
        return {tag, 0};
    }
    return {tag.substr(0, tag.size() - trailer_size),
            uint_at(tag.substr(tag.size() - trailer_size))};
}

// The length of the frame that begins here. Before that is known: the bytes that tell it. Zero: it
// is no frame.
std::size_t FrameShim::size_of_frame(std::string_view begun, std::uint32_t largest) noexcept {
    if (begun.size() < header_size) {
        return header_size;
    }
    const std::size_t size = uint_at(begun);
    const std::size_t offset = offset_of(begun);
    const bool is_one =
        offset >= header_size && offset <= size && (largest == 0 || size <= largest);
    return is_one ? size : 0;
}

template <typename Rewrite>
bool FrameShim::walk(Direction& direction, std::uint32_t largest, std::string_view& bytes,
                     std::string& to, Rewrite rewrite) {
    const auto size_of = [&](std::string_view begun) {
        return direction.past_header ? size_of_frame(begun, largest) : header_size;
    };
    const auto take = [&](std::string_view frame) {
        if (direction.past_header) {
            return rewrite(frame);
        }
        direction.past_header = true;
        to.append(frame);
        return frame.starts_with("AMQP");
    };
    while (!bytes.empty() && !wants_answer_) {
        std::string& partial = direction.partial;
        const std::size_t size = size_of(partial.empty() ? bytes : std::string_view{partial});
        if (size == 0) {
            return false;
        }
        if (partial.empty() && bytes.size() >= size) {
            const std::string_view frame = bytes.substr(0, size);
            bytes.remove_prefix(size);
            if (!take(frame)) {
                return false;
            }
            continue;
        }
        const std::size_t missing = std::min(size - partial.size(), bytes.size());
        partial.append(bytes.substr(0, missing));
        bytes.remove_prefix(missing);
        const std::size_t known = size_of(partial);
        if (known == 0) {
            return false;
        }
        if (partial.size() == known) {
            if (!take(partial)) {
                return false;
            }
            partial.clear();
            if (&direction == &in_ && may_pass()) {
                return true;
            }
        }
    }
    return true;
}

bool FrameShim::outbound(std::string_view bytes, std::string& to) {
    return walk(out_, 0, bytes, to,
                [&](std::string_view frame) { return rewrite_outbound(frame, to); });
}

bool FrameShim::inbound(std::string_view& bytes, std::string& to) {
    wants_answer_ = false;
    const auto rewritten = [&](std::string_view frame) { return rewrite_inbound(frame, to); };
    const bool are_frames = walk(in_, largest_frame_, bytes, to, rewritten);
    wants_answer_ = false;
    return are_frames;
}

std::size_t FrameShim::passing(std::string_view bytes) const noexcept {
    std::size_t passed = 0;
    if (!may_pass() || !in_.partial.empty()) {
        return passed;
    }
    while (bytes.size() - passed >= header_size) {
        const std::string_view frame = bytes.substr(passed);
        const std::size_t size = size_of_frame(frame, largest_frame_);
        if (size == 0 || size > frame.size() || !is_amqp(frame)) {
            break;
        }
        if (size > offset_of(frame)) {
            const auto fields = Fields::read(body_of(frame.substr(0, size)));
            if (!fields || (fields->code() == Performative::transfer && !is_whole(*fields))) {
                break;
            }
        }
        passed += size;
    }
    return passed;
}

bool FrameShim::rewrite_outbound(std::string_view frame, std::string& to) {
    const std::string_view body = body_of(frame);
    if (body.empty()) {
        to.append(frame);
        return true;
    }
    auto fields = Fields::read(body);
    if (!fields) {
        return false;
    }
    std::optional<EncodedUint> number;
    EncodedTag tag;
    scratch_.clear();
    switch (fields->code()) {
    case Performative::transfer:
        if (const auto carrying = fields->binary(2)) {
            const FormattedTag split = split_tag(*carrying);
            tag.set(split.tag.substr(0, longest_tag));
            number.emplace(split.message_format);
            fields->set(2, tag.bytes());
            fields->set(3, number->bytes());
        }
        break;
    case Performative::open:
        if (!shrink_frame_size(*fields, number)) {
            return false;
        }
        if (number) {
            fields->set(2, number->bytes());
        }
        break;
    case Performative::begin:
        if (fields->is_null(4)) {
            number.emplace(handle_max);
            fields->set(4, number->bytes());
        }
        break;
    case Performative::attach:
    case Performative::detach:
    case Performative::end:
    case Performative::close: {
        std::array<std::size_t, 2> ends{};
        const auto nested = nested_fields(fields->code());
        for (std::size_t i = 0; i < nested.size(); ++i) {
            if (const auto inside = Fields::read(fields->at(nested[i]));
                inside && full_count(inside->code()) != 0) {
                inside->write(scratch_);
            }
            ends[i] = scratch_.size();
        }
        for (std::size_t i = 0, begun = 0; i < nested.size(); begun = ends[i++]) {
            if (ends[i] != begun) {
                fields->set(nested[i], std::string_view{scratch_}.substr(begun, ends[i] - begun));
            }
        }
        break;
    }
    default: break;
    }
    put_frame(frame, *fields, to);
    return true;
}

bool FrameShim::rewrite_inbound_open(std::string_view frame, std::string& to) {
    auto fields = Fields::read(body_of(frame));
    if (is_refused_) {
        to.append(frame); // the engine below needs no open before it
        return fields && fields->code() == Performative::close;
    }
    std::optional<EncodedUint> number;
    if (!fields || fields->code() != Performative::open) {
        return false;
    }
    if (!is_server_ && fields->number(2).value_or(smallest_frame) < smallest_frame) {
        return is_refused_ = true;
    }
    if (!shrink_frame_size(*fields, number)) {
        return false;
    }
    if (number) {
        fields->set(2, number->bytes());
    }
    seen_open_ = true;
    wants_answer_ = is_server_;
    put_frame(frame, *fields, to);
    return true;
}

// The engine below ends the process if the first frame of a message has no delivery-id.
bool FrameShim::follow(std::uint16_t channel, const Fields& fields) {
    switch (fields.code()) {
    case Performative::transfer: {
        const std::uint64_t key = link_key(channel, fields.number(0).value_or(0));
        const auto known = std::find(unfinished_.begin(), unfinished_.end(), key);
        const bool goes_on = fields.is_true(5) && !fields.is_true(9);
        if (known == unfinished_.end()) {
            if (!fields.number(1) || unfinished_.size() == most_unfinished) {
                return false;
            }
            if (goes_on) {
                unfinished_.push_back(key);
            }
        } else if (!goes_on) {
            unfinished_.erase(known);
        }
        break;
    }
    case Performative::detach:
        std::erase(unfinished_, link_key(channel, fields.number(0).value_or(0)));
        break;
    case Performative::end:
        std::erase_if(unfinished_, [&](std::uint64_t key) { return key >> 32U == channel; });
        break;
    default: break;
    }
    return true;
}

bool FrameShim::rewrite_inbound(std::string_view frame, std::string& to) {
    if (!is_amqp(frame)) {
        return false; // the engine below has no SASL to take it
    }
    const std::string_view body = body_of(frame);
    if (!seen_open_ && !body.empty()) {
        return rewrite_inbound_open(frame, to);
    }
    if (body.empty()) {
        to.append(frame);
        return true;
    }
    auto fields = Fields::read(body);
    if (!fields) {
        return false;
    }
    const std::uint8_t code = fields->code();
    if (code == Performative::begin && !seen_begin_) {
        seen_begin_ = true;
        peers_handle_max_ = fields->number(4).value_or(0xffffffffU);
    }
    if (!is_server_) {
        to.append(frame);
        return follow(channel_of(frame), *fields);
    }
    if (code == Performative::open || code == Performative::close) {
        to.append(frame);
        return code == Performative::close;
    }
    const std::uint16_t channel = channel_of(frame);
    if (code == Performative::begin) {
        wants_answer_ = true;
        to.append(frame);
        return channels_.try_emplace(channel).second;
    }
    const auto begun = channels_.find(channel);
    if (begun == channels_.end()) {
        return true; // the peer has ended it; what it says there still means nothing
    }
    if (code == Performative::end) {
        follow(channel, *fields);
        channels_.erase(begun);
        to.append(frame);
        return true;
    }
    Handles& attached = begun->second;
    const std::size_t at = code == Performative::attach ? 1 : code == Performative::flow ? 4 : 0;
    if (code != Performative::disposition && !(code == Performative::flow && fields->is_null(at))) {
        const auto handle = fields->number(at);
        if (!handle || *handle > handle_max) {
            return false;
        }
        const bool is_attached = attached.test(*handle);
        if (code == Performative::attach) {
            attached.set(*handle);
            to.append(frame);
            return !is_attached;
        }
        if (!is_attached) {
            return true; // as with the channel
        }
        if (code == Performative::detach) {
            attached.reset(*handle);
        }
        if (!follow(channel, *fields)) {
            return false;
        }
    }
    const auto tag = code == Performative::transfer ? fields->binary(2) : std::nullopt;
    if (!tag) {
        to.append(frame);
        return true;
    }
    const TagBuffer carrying = tag_with_format(*tag, fields->number(3).value_or(0));
    EncodedTag encoded;
    encoded.set({carrying.bytes.data(), carrying.size});
    fields->set(2, encoded.bytes());
    put_frame(frame, *fields, to);
    return true;
}

} // namespace sessionq::amqp
