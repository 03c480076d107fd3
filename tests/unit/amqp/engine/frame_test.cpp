// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "amqp/engine/frame.hpp"

using namespace sessionq::amqp;
using namespace std::string_literals;

namespace {

std::string frame_of(std::uint16_t channel, std::string_view body) {
    std::string made;
    const std::size_t begun = begin_frame(made, channel);
    made.append(body);
    end_frame(made, begun);
    return made;
}

struct Read {
    bool header{false};
    std::vector<std::pair<std::uint16_t, std::string>> frames{};
    std::string fault{};

    void feed(FrameReader& reader, std::string_view bytes) {
        for (;;) {
            switch (reader.next(bytes)) {
            case FrameReader::Found::more: return;
            case FrameReader::Found::header: header = true; break;
            case FrameReader::Found::frame:
                frames.emplace_back(reader.frame().channel, reader.frame().body);
                break;
            case FrameReader::Found::fault: fault = reader.fault(); return;
            }
        }
    }
};

} // namespace

TEST_CASE("FrameReader: a stream may be cut anywhere") {
    const std::string bytes = std::string{protocol_header} + frame_of(1, "one") +
                              std::string{empty_frame} + frame_of(0xfffe, std::string(300, 'x'));
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(cut);
        FrameReader reader{1000};
        Read read;
        read.feed(reader, std::string_view{bytes}.substr(0, cut));
        read.feed(reader, std::string_view{bytes}.substr(cut));
        CHECK(read.header);
        REQUIRE(read.frames.size() == 3);
        CHECK(read.frames[0] == std::pair{std::uint16_t{1}, "one"s});
        CHECK(read.frames[1].second.empty());
        CHECK(read.frames[2] == std::pair{std::uint16_t{0xfffe}, std::string(300, 'x')});
        CHECK(reader.held() == 0);
    }
}

TEST_CASE("FrameReader: a frame that came whole is not copied") {
    const std::string bytes = std::string{protocol_header} + frame_of(0, "body");
    FrameReader reader{0};
    std::string_view left = bytes;
    CHECK(reader.next(left) == FrameReader::Found::header);
    CHECK(reader.next(left) == FrameReader::Found::frame);
    CHECK(reader.frame().body.data() == bytes.data() + 16);
    CHECK(left.empty());
}

TEST_CASE("FrameReader: not even the beginning of a frame that is too large is kept") {
    FrameReader reader{600};
    Read read;
    read.feed(reader, std::string{protocol_header} + "\0\0\x02\x59\x02\0\0\0"s);
    CHECK_FALSE(read.fault.empty());
    FrameReader other{600};
    Read just;
    just.feed(other, std::string{protocol_header} + "\0\0\x02\x58\x02\0\0\0"s);
    CHECK(just.fault.empty());
    CHECK(other.held() == 8);
}

TEST_CASE("FrameReader: what is not AMQP 1.0 is told from what wants SASL") {
    const auto fault_of = [](std::string_view bytes) {
        FrameReader reader{0};
        Read read;
        read.feed(reader, bytes);
        return read.fault;
    };
    CHECK(fault_of("HTTP/1.1 200") == "the peer does not speak AMQP 1.0");
    CHECK(fault_of({"AMQP\3\1\0\0", 8}) == "the peer asks for SASL");
    CHECK(fault_of("AMQ").empty());
    CHECK(fault_of("AMX") == "the peer does not speak AMQP 1.0");
}
