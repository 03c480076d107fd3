// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/input_buffer.hpp"

using sessionq::amqp::InputBuffer;

TEST_CASE("InputBuffer: grows when a read fills it, and shrinks after many small reads in a row") {
    InputBuffer buffer;
    buffer.prepare(0);
    CHECK(buffer.size() == InputBuffer::smallest);
    buffer.prepare(InputBuffer::smallest - 1);
    CHECK(buffer.size() == InputBuffer::smallest);
    buffer.prepare(InputBuffer::smallest);
    CHECK(buffer.size() == InputBuffer::largest);
    buffer.prepare(InputBuffer::largest);
    CHECK(buffer.size() == InputBuffer::largest);
    for (unsigned i = 1; i < InputBuffer::patience; ++i) {
        buffer.prepare(1);
    }
    CHECK(buffer.size() == InputBuffer::largest);
    buffer.prepare(InputBuffer::smallest); // the count begins anew
    for (unsigned i = 1; i < InputBuffer::patience; ++i) {
        buffer.prepare(1);
    }
    CHECK(buffer.size() == InputBuffer::largest);
    buffer.prepare(1);
    CHECK(buffer.size() == InputBuffer::smallest);
}
