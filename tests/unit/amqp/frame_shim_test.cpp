#include <doctest/doctest.h>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/frame_shim.hpp"

using namespace sessionq::amqp;
using namespace std::string_literals;

namespace {

const std::string header = "AMQP\0\x01\0\0"s;

std::string frame(std::uint64_t code, const List& fields, std::string_view payload = {},
                  std::uint8_t type = 0) {
    std::string body;
    Encoder{body}.write(Value::described(code, fields));
    body += payload;
    std::string made = "\0\0\0\0\x02\0\0\x05"s;
    made[5] = static_cast<char>(type);
    made += body;
    made[2] = static_cast<char>(made.size() >> 8U);
    made[3] = static_cast<char>(made.size());
    return made;
}

const std::string attached =
    frame(0x10, {"c", "h"}) + frame(0x11, {}) + frame(0x12, {"name", std::uint32_t{0}, true});

struct Seen {
    std::uint64_t code{0};
    List fields{};
    std::string payload{};
    std::string raw{};
};

std::vector<Seen> frames(std::string_view bytes) {
    std::vector<Seen> seen;
    REQUIRE(bytes.substr(0, 8) == header);
    bytes.remove_prefix(8);
    while (!bytes.empty()) {
        const std::size_t size = static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[2]))
                                     << 8U |
                                 static_cast<std::uint8_t>(bytes[3]);
        REQUIRE(size >= 8);
        REQUIRE(size <= bytes.size());
        Decoder decoder{bytes.substr(8, size - 8)};
        Seen one{.raw = std::string{bytes.substr(0, size)}};
        if (const auto value = decoder.read()) {
            one.code = *value->described()->descriptor.unsigned_integer();
            one.fields = *value->described()->value.as<List>();
            one.payload = decoder.rest();
        }
        seen.push_back(std::move(one));
        bytes.remove_prefix(size);
    }
    return seen;
}

std::vector<Seen> out(const std::string& bytes) {
    FrameShim shim{false};
    std::string to;
    REQUIRE(shim.outbound(header + bytes, to));
    return frames(to);
}

/// Everything, however often it stops for an answer.
bool in(FrameShim& shim, std::string_view bytes, std::string& to) {
    while (!bytes.empty()) {
        if (!shim.inbound(bytes, to)) {
            return false;
        }
    }
    return true;
}

} // namespace

TEST_CASE(
    "FrameShim: performatives leave with all their fields, in the layout strict peers insist on") {
    const std::pair<std::uint64_t, std::size_t> full[]{{0x10, 10}, {0x11, 8},  {0x12, 14},
                                                       {0x13, 11}, {0x14, 11}, {0x15, 6},
                                                       {0x16, 3},  {0x17, 1},  {0x18, 1}};
    for (const auto& [code, count] : full) {
        CAPTURE(code);
        const auto seen = out(frame(code, {}));
        REQUIRE(seen.size() == 1);
        CHECK(seen[0].fields.size() == count);
        CHECK(seen[0].raw.substr(8, 2) == "\0\x53"s);
        CHECK(seen[0].raw[11] != '\x45');
    }
}

TEST_CASE(
    "FrameShim: errors, sources and targets inside are widened, and never beyond the standard") {
    const Value error =
        Value::described(std::uint64_t{0x1d}, List{Value::symbol("amqp:not-found")});
    const auto detach = out(frame(0x16, {std::uint32_t{0}, true, error}));
    CHECK(detach.at(0).fields.at(2).described()->value.as<List>()->size() == 3);
    const Value source = Value::described(std::uint64_t{0x28}, List{"orders"});
    const Value target = Value::described(std::uint64_t{0x29}, List{});
    const auto attach =
        out(frame(0x12, {"name", std::uint32_t{0}, false, Value{}, Value{}, source, target}));
    CHECK(attach.at(0).fields.at(5).described()->value.as<List>()->size() == 11);
    CHECK(attach.at(0).fields.at(6).described()->value.as<List>()->size() == 7);
    CHECK(attach.at(0).fields.at(0) == Value{"name"});
}

TEST_CASE("FrameShim: a begin names its handle-max, unless it does already") {
    CHECK(out(frame(0x11, {Value{}, std::uint32_t{1}})).at(0).fields.at(4).integer() ==
          FrameShim::handle_max);
    CHECK(out(frame(0x11, {Value{}, std::uint32_t{1}, Value{}, Value{}, std::uint32_t{7}}))
              .at(0)
              .fields.at(4)
              .integer() == 7);
}

TEST_CASE("FrameShim: a tag gives up the format it carries to the transfer") {
    const TagBuffer tag = tag_with_format("abc", 0x80013700);
    const Value encoded = Value::binary({tag.bytes.data(), tag.size});
    const auto seen = out(frame(0x14, {std::uint32_t{0}, std::uint32_t{1}, encoded}, "payload"));
    CHECK(seen.at(0).fields.at(2) == Value::binary("abc"));
    CHECK(seen.at(0).fields.at(3) == Value{std::uint32_t{0x80013700}});
    CHECK(seen.at(0).payload == "payload");
}

TEST_CASE(
    "FrameShim: on the way in a server's tags carry the format, and a client's are left alone") {
    const std::string bytes = header + attached +
                              frame(0x14,
                                    {std::uint32_t{0}, std::uint32_t{1}, Value::binary("abc"),
                                     std::uint32_t{9}, false, true},
                                    "payload") +
                              frame(0x14, {std::uint32_t{0}}, "rest");
    FrameShim server{true};
    std::string to;
    REQUIRE(in(server, bytes, to));
    const auto seen = frames(to);
    const auto tag = split_tag(*seen.at(3).fields.at(2).bytes());
    CHECK(tag.tag == "abc");
    CHECK(tag.message_format == 9);
    CHECK(seen.at(4).payload == "rest");
    FrameShim client{false};
    std::string same;
    REQUIRE(in(client, bytes, same));
    CHECK(same.ends_with(bytes.substr((header + frame(0x10, {"c", "h"})).size())));
}

TEST_CASE("FrameShim: what it adds is taken off both sides' frame sizes") {
    const std::string bytes = header + frame(0x10, {"c", "h", std::uint32_t{4096}});
    FrameShim shim{false};
    std::string outward;
    std::string inward;
    REQUIRE(shim.outbound(bytes, outward));
    REQUIRE(in(shim, bytes, inward));
    CHECK(frames(outward).at(0).fields.at(2).integer() == 4096 - FrameShim::reserve);
    CHECK(frames(inward).at(0).fields.at(2).integer() == 4096 - FrameShim::reserve);
    REQUIRE(in(shim,
               frame(0x11, {std::uint16_t{0}, std::uint32_t{0}, std::uint32_t{1}, std::uint32_t{1},
                            std::uint32_t{255}}),
               inward));
    CHECK(shim.peers_handle_max() == 255);
    FrameShim small{false};
    std::string to;
    CHECK_FALSE(in(small, header + frame(0x10, {"c", "h", std::uint32_t{512}}), to));
}

TEST_CASE("FrameShim: a client whose peer opens with frames of no size hears the close that says "
          "why, and nothing else") {
    const std::string open = frame(0x10, {"c", "h", std::uint32_t{0}});
    const std::string close =
        frame(0x18, {Value::described(std::uint64_t{0x1d}, List{Value::symbol("amqp:not-found")})});
    const std::string bytes = header + open + close;
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(cut);
        FrameShim shim{false};
        std::string to;
        REQUIRE(in(shim, std::string_view{bytes}.substr(0, cut), to));
        REQUIRE(in(shim, std::string_view{bytes}.substr(cut), to));
        CHECK(to == header + close);
    }
    const auto is_refused = [](bool is_server, const std::string& rest) {
        FrameShim shim{is_server};
        std::string to;
        return !in(shim, header + rest, to);
    };
    CHECK(is_refused(false, open + frame(0x11, {})));
    CHECK(is_refused(false, open + open));
    CHECK(is_refused(true, open));
}

TEST_CASE("FrameShim: streams may be cut anywhere") {
    const std::string bytes =
        header + attached + "\0\0\0\x08\x02\0\0\0"s +
        frame(0x14, {std::uint32_t{0}, std::uint32_t{1}, Value::binary("abcd")}, "payload");
    FrameShim whole{true};
    std::string expected_out;
    std::string expected_in;
    REQUIRE(whole.outbound(bytes, expected_out));
    REQUIRE(in(whole, bytes, expected_in));
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        CAPTURE(cut);
        FrameShim shim{true};
        std::string to;
        std::string from;
        REQUIRE(shim.outbound(std::string_view{bytes}.substr(0, cut), to));
        REQUIRE(shim.outbound(std::string_view{bytes}.substr(cut), to));
        REQUIRE(in(shim, std::string_view{bytes}.substr(0, cut), from));
        REQUIRE(in(shim, std::string_view{bytes}.substr(cut), from));
        CHECK(to == expected_out);
        CHECK(from == expected_in);
        CHECK(shim.is_outbound_aligned());
    }
}

TEST_CASE(
    "FrameShim: a server hears nothing of what is said to links and channels the peer has left") {
    const auto gone = frame(
        0x13, {Value{}, std::uint32_t{1}, std::uint32_t{0}, std::uint32_t{1}, std::uint32_t{0}});
    const auto detach = frame(0x16, {std::uint32_t{0}, true});
    const auto session_flow =
        frame(0x13, {Value{}, std::uint32_t{1}, std::uint32_t{0}, std::uint32_t{1}});
    const auto end = frame(0x17, {});
    const auto close = frame(0x18, {});
    FrameShim shim{true};
    std::string to;
    REQUIRE(in(shim,
               header + attached + gone + detach + gone + detach + session_flow + end + end +
                   detach + session_flow + close,
               to));
    CHECK(frames(to).size() == 8);
    CHECK(to.ends_with(attached.substr(frame(0x10, {"c", "h"}).size()) + gone + detach +
                       session_flow + end + close));
    std::string again;
    REQUIRE(in(shim, frame(0x11, {}) + frame(0x12, {"name", std::uint32_t{0}, true}), again));
    CHECK(frames(header + again).size() == 2);
}

TEST_CASE("FrameShim: a server stops to answer an open and a begin") {
    const std::string bytes = header + attached;
    std::string_view rest = bytes;
    std::string to;
    FrameShim shim{true};
    REQUIRE(shim.inbound(rest, to));
    CHECK(rest == attached.substr(frame(0x10, {"c", "h"}).size()));
    REQUIRE(shim.inbound(rest, to));
    CHECK(rest == frame(0x12, {"name", std::uint32_t{0}, true}));
    REQUIRE(shim.inbound(rest, to));
    CHECK(rest.empty());
}

TEST_CASE("FrameShim: a message whose first frame names no delivery does not reach the engine, on "
          "either side") {
    const auto part = [](bool has_id, bool more, bool aborted = false) {
        return frame(0x14,
                     {std::uint32_t{0}, has_id ? Value{std::uint32_t{1}} : Value{},
                      Value::binary("t"), Value{}, false, more, Value{}, Value{}, Value{}, aborted},
                     "x");
    };
    const auto detach = frame(0x16, {std::uint32_t{0}, true});
    for (const bool is_server : {false, true}) {
        CAPTURE(is_server);
        const auto takes = [&](const std::string& bytes) {
            FrameShim shim{is_server};
            std::string to;
            REQUIRE(in(shim, header + attached, to));
            const bool all_pass = shim.passing(bytes) == bytes.size();
            return all_pass || in(shim, bytes, to);
        };
        CHECK(takes(part(true, false) + part(true, false)));
        CHECK(takes(part(true, true) + part(false, true) + part(false, false) + part(true, true)));
        CHECK_FALSE(takes(part(false, true)));
        CHECK_FALSE(takes(part(true, true) + part(false, false) + part(false, true)));
        CHECK_FALSE(takes(part(true, true) + part(true, true, true) + part(false, true)));
        CHECK_FALSE(takes(part(true, true) + detach +
                          frame(0x12, {"name", std::uint32_t{0}, true}) + part(false, true)));
    }
}

TEST_CASE(
    "FrameShim: a client's frames pass again after one that was cut in two, wherever it was cut") {
    const auto transfer =
        frame(0x14, {std::uint32_t{0}, std::uint32_t{1}, Value::binary("t")}, "x");
    for (std::size_t cut = 1; cut < transfer.size(); ++cut) {
        CAPTURE(cut);
        FrameShim shim{false};
        std::string to;
        REQUIRE(in(shim, header + attached, to));
        to.clear();
        REQUIRE(shim.passing(transfer.substr(0, cut)) == 0);
        REQUIRE(in(shim, transfer.substr(0, cut), to));
        CHECK(to.empty());
        const std::string left = transfer.substr(cut) + transfer + transfer;
        std::string_view rest = left;
        CHECK(shim.passing(rest) == 0);
        REQUIRE(shim.inbound(rest, to));
        CHECK(to == transfer);
        CHECK(rest == transfer + transfer);
        CHECK(shim.passing(rest) == rest.size());
    }
}

TEST_CASE("FrameShim: what are no frames is refused") {
    const auto is_refused = [](const std::string& bytes) {
        FrameShim shim{true};
        std::string to;
        return !in(shim, bytes, to);
    };
    CHECK(is_refused("HTTP/1.1 200"));
    CHECK(is_refused(header + "\0\0\0\x07\x02\0\0\0"s));
    CHECK(is_refused(header + "\0\0\0\x10\x01\0\0\0"s + std::string(8, 'x')));
    CHECK(is_refused(header + "\0\0\0\x10\x05\0\0\0"s + std::string(8, 'x')));
    CHECK(is_refused(header + attached + "\0\0\0\x0f\x02\0\0\0\0\x53\x14\xc0\x04\x03\x40"s));
    CHECK(is_refused(header + attached +
                     frame(0x40, {Value::symbol("PLAIN")}, {}, 1))); // SASL is over
    CHECK(is_refused(header + frame(0x11, {})));                     // before the open
    CHECK(is_refused(header + attached + frame(0x11, {})));
    CHECK(is_refused(header + attached + frame(0x12, {"other", std::uint32_t{0}, true})));
    CHECK(is_refused(header + attached +
                     frame(0x12, {"other", std::uint32_t{FrameShim::handle_max + 1}, true})));
    FrameShim small{true, 600};
    std::string to;
    CHECK(in(small, header + attached, to));
    CHECK_FALSE(in(small, "\0\0\x02\x59\x02\0\0\0"s, to)); // not even its beginning is kept
}
