// SPDX-License-Identifier: MIT
#include "amqp/engine/composite_writer.hpp"

#include "amqp/engine/performative.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::size_t header_size = 6; // descriptor, list constructor, size and count

} // namespace

CompositeWriter::CompositeWriter(std::string& to, std::uint8_t code)
    : to_{to}, start_{to.size()}, full_count_{fields_of_type(code)} {
    const char header[header_size]{'\0',   '\x53', static_cast<char>(code),
                                   '\xc0', '\0',   static_cast<char>(full_count_)};
    to_.append(header, header_size);
}

void CompositeWriter::finish() {
    to_.append(full_count_ - count_, '\x40');
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
