#include "amqp/engine/composite_writer.hpp"

#include "amqp/engine/performative.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::size_t header_size = 6;    // descriptor, list constructor, size and count
constexpr std::size_t largest_fixed = 16; // the longest field of fixed size, and then some

} // namespace

CompositeWriter::CompositeWriter(std::string& to, std::uint8_t code)
    : to_{to}, start_{to.size()}, full_count_{fields_of_type(code)} {
    put(0x00);
    put(0x53);
    put(code);
    put(0xc0);
    put(0); // size
    put(static_cast<std::uint8_t>(full_count_));
}

void CompositeWriter::flush() {
    to_.append(buffer_.data(), used_);
    used_ = 0;
}

void CompositeWriter::go_to(std::size_t field) {
    if (used_ + field - count_ + largest_fixed > buffer_.size()) {
        flush();
    }
    for (; count_ < field; ++count_) {
        put(0x40);
    }
    ++count_;
}

void CompositeWriter::boolean(std::size_t field, bool value) {
    go_to(field);
    put(value ? 0x41 : 0x42);
}

void CompositeWriter::ubyte(std::size_t field, std::uint8_t value) {
    go_to(field);
    put(0x50);
    put(value);
}

void CompositeWriter::ushort(std::size_t field, std::uint16_t value) {
    go_to(field);
    put(0x60);
    core::put_number<2>(buffer_.data() + used_, value);
    used_ += 2;
}

void CompositeWriter::number(std::size_t field, std::uint32_t value) {
    go_to(field);
    if (value == 0) {
        put(0x43);
    } else if (value <= 0xff) {
        put(0x52);
        put(static_cast<std::uint8_t>(value));
    } else {
        put(0x70);
        core::put_number<4>(buffer_.data() + used_, value);
        used_ += 4;
    }
}

void CompositeWriter::long_number(std::size_t field, std::uint64_t value) {
    go_to(field);
    if (value == 0) {
        put(0x44);
    } else {
        put(0x80);
        core::put_number<8>(buffer_.data() + used_, value);
        used_ += 8;
    }
}

void CompositeWriter::sized(std::size_t field, std::uint8_t short_code, std::string_view bytes) {
    go_to(field);
    if (bytes.size() <= 0xff) {
        put(short_code);
        put(static_cast<std::uint8_t>(bytes.size()));
    } else {
        put(static_cast<std::uint8_t>(short_code + 0x10));
        core::put_number<4>(buffer_.data() + used_, bytes.size());
        used_ += 4;
    }
    if (bytes.size() + used_ <= buffer_.size()) {
        used_ += bytes.copy(buffer_.data() + used_, bytes.size());
    } else {
        flush();
        to_.append(bytes);
    }
}

void CompositeWriter::raw(std::size_t field, std::string_view encoded) {
    if (encoded.empty()) {
        return;
    }
    go_to(field);
    if (encoded.size() + used_ <= buffer_.size()) {
        used_ += encoded.copy(buffer_.data() + used_, encoded.size());
    } else {
        flush();
        to_.append(encoded);
    }
}

void CompositeWriter::finish() {
    if (count_ < full_count_) {
        go_to(full_count_ - 1);
        put(0x40);
    }
    flush();
    const std::size_t size = to_.size() - start_ - header_size + 1; // with the count
    if (size <= 0xff) {
        to_[start_ + 4] = static_cast<char>(size);
        return;
    }
    to_.insert(start_ + header_size, 6, '\0'); // a list with long size and count instead
    char* const at = to_.data() + start_ + 3;
    *at = '\xd0';
    core::put_number<4>(at + 1, size + 3);
    core::put_number<4>(at + 5, full_count_);
}

} // namespace sessionq::amqp
