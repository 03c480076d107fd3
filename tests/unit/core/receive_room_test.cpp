// SPDX-License-Identifier: MIT
#include "core/receive_room.hpp"

#include <doctest/doctest.h>

#include <deque>

using namespace sessionq;
using core::ReceiveRoom;
using core::ReceiveShare;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;
constexpr std::size_t frame = std::size_t{16} << 10U;

struct Peer final : core::RoomWaiter {
    explicit Peer(const core::ReceiveRoomPtr& room)
        : share{std::make_shared<ReceiveShare>(room, *this, frame)} {
        share->set_links(1);
    }
    void on_room() override { ++told; }

    /// Tells the peer of all that it may send. In bytes.
    std::size_t announce() {
        const std::size_t more = share->affordable();
        share->announce(more);
        return more * frame;
    }
    void use(std::size_t bytes) {
        for (std::size_t used = 0; used < bytes; used += frame) {
            share->use();
        }
    }
    /// It sends a message.
    void send(std::size_t bytes) {
        use(bytes);
        share->arrived(bytes);
    }

    int told{0};
    core::ReceiveSharePtr share;
};

core::ReceiveRoomPtr room_of(std::size_t bytes) {
    auto made = std::make_shared<ReceiveRoom>();
    made->join(bytes);
    return made;
}

} // namespace

TEST_CASE("receive room: R23: what is kept and what is announced stay within the budget") {
    const auto room = room_of(8 * mebibyte);
    Peer peer{room};
    CHECK(peer.announce() == 8 * mebibyte);
    CHECK(peer.share->affordable() == 0);
    peer.send(5 * mebibyte);
    CHECK(room->kept() == 5 * mebibyte);
    CHECK(room->announced() == 3 * mebibyte);
    CHECK(peer.announce() == 0);
    peer.share->gone(2 * mebibyte);
    CHECK(peer.announce() == 2 * mebibyte);
    CHECK(room->kept() + room->announced() == room->budget());
}

TEST_CASE("receive room: R23: a frame takes room as if it were full, until its bytes are known") {
    const auto room = room_of(mebibyte);
    Peer peer{room};
    static_cast<void>(peer.announce());
    for (int i = 0; i < 64; ++i) { // a kibibyte in each frame of sixteen
        peer.share->use();
        peer.share->arrived(1024);
    }
    CHECK(room->announced() == 0);
    CHECK(peer.announce() == mebibyte - 64U * 1024);
}

TEST_CASE("receive room: R23: AMQP sessions share it evenly, as far as it is free") {
    const auto room = room_of(12 * mebibyte);
    Peer first{room};
    CHECK(first.announce() == 12 * mebibyte);
    Peer second{room};
    CHECK(second.announce() == ReceiveShare::least); // the first was told of it all
    first.use(8 * mebibyte);                         // small messages, long gone
    CHECK(first.announce() == 2 * mebibyte);
    CHECK(second.announce() > 5 * mebibyte);
    CHECK(room->announced() <= room->budget());
}

TEST_CASE("receive room: R23: each link may have a message whatever the budget says") {
    const auto room = room_of(mebibyte);
    Peer hoarder{room};
    static_cast<void>(hoarder.announce());
    hoarder.send(mebibyte);
    CHECK(hoarder.announce() == 0); // it has its message
    Peer peer{room};
    peer.share->set_links(2);
    CHECK(peer.announce() == ReceiveShare::least);
    for (int part = 0; part < 100; ++part) { // a large one goes on to its end
        peer.use(ReceiveShare::least);
        peer.share->part_came(ReceiveShare::least);
        CHECK(peer.announce() == ReceiveShare::least);
    }
    peer.share->parts_gone(100 * ReceiveShare::least);
    peer.share->arrived(100 * ReceiveShare::least);
    peer.send(ReceiveShare::least);
    CHECK(peer.announce() == 0); // both links have theirs
    peer.share->gone(ReceiveShare::least);
    CHECK(peer.announce() == ReceiveShare::least);
}

TEST_CASE("receive room: whoever had none hears of room once, whoever makes it") {
    const auto room = room_of(mebibyte);
    Peer first{room};
    Peer second{room};
    static_cast<void>(first.announce());
    first.send(mebibyte / 2);
    first.use(mebibyte / 2);
    static_cast<void>(second.announce());
    second.send(mebibyte / 2);
    CHECK_FALSE(second.share->has_room());
    SUBCASE("a message of its own") { second.share->gone(mebibyte / 2); }
    SUBCASE("the other's message") { first.share->gone(mebibyte / 2); }
    SUBCASE("a user who brings a budget") { room->join(4 * mebibyte); }
    SUBCASE("the other's end, and its message") {
        first.share->close();
        CHECK(second.told == 0);
        first.share->gone(mebibyte / 2);
    }
    CHECK(second.told == 1);
    CHECK(first.told == 0);
    CHECK(second.share->has_room());
    first.share->gone(1);
    CHECK(second.told == 1);
}

TEST_CASE("receive room: too little room is not told") {
    const auto room = room_of(4 * mebibyte);
    Peer peer{room};
    static_cast<void>(peer.announce());
    for (int i = 0; i < 3; ++i) {
        peer.send(mebibyte);
    }
    peer.share->gone(frame);
    CHECK(peer.share->affordable() == 1);
    CHECK_FALSE(peer.share->has_room());
    CHECK(peer.told == 0);
    peer.share->gone(mebibyte);
    CHECK(peer.told == 1);
}

TEST_CASE("receive room: of many that wait those hear of room that it is enough for") {
    const auto room = room_of(mebibyte);
    Peer hoarder{room};
    static_cast<void>(hoarder.announce());
    hoarder.send(mebibyte);
    std::deque<Peer> peers; // their peers may send 0, 1, ... 15 frames
    for (std::size_t frames = 0; frames < 16; ++frames) {
        Peer& peer = peers.emplace_back(room);
        static_cast<void>(peer.announce());
        peer.send(ReceiveShare::least - frames * frame);
        REQUIRE_FALSE(peer.share->has_room());
    }
    const auto told = [&] {
        std::size_t count = 0;
        while (count < peers.size() && peers[count].told == 1) {
            ++count;
        }
        return count; // and no other
    };
    CHECK(told() == 0);
    room->join(room->kept() - room->budget() + 17 * 8 * frame);
    CHECK(told() == 5); // eight frames each: those with up to four of them can have as many more
    CHECK(peers[5].told + peers[15].told == 0);
    room->join(room->budget() + 17 * 32 * frame);
    CHECK(told() == 16);
}

TEST_CASE("receive room: a link without a message hears of its room, whatever others have") {
    const auto room = room_of(mebibyte);
    Peer hoarder{room};
    static_cast<void>(hoarder.announce());
    hoarder.send(2 * mebibyte);
    Peer first{room};
    Peer second{room};
    for (Peer* const peer : {&first, &second}) {
        static_cast<void>(peer->announce());
        peer->send(ReceiveShare::least);
        REQUIRE_FALSE(peer->share->has_room());
    }
    second.share->gone(ReceiveShare::least);
    CHECK(first.told == 0);
    CHECK(second.told == 1);
}

TEST_CASE("receive room: what came over a session that has ended is counted until it is gone") {
    const auto room = room_of(4 * mebibyte);
    core::ReceiveSharePtr kept;
    {
        Peer peer{room};
        static_cast<void>(peer.announce());
        peer.send(mebibyte);
        kept = peer.share;
        kept->close();
    }
    CHECK(room->announced() == 0);
    CHECK(room->kept() == mebibyte);
    SUBCASE("it goes") { kept->gone(mebibyte); }
    SUBCASE("nobody counts it any more") { kept.reset(); }
    CHECK(room->kept() == 0);
}

TEST_CASE("receive room: without a user's budget it has the usual one") {
    const auto room = std::make_shared<ReceiveRoom>();
    CHECK(room->budget() == ReceiveRoom::usual);
    room->join(mebibyte);
    room->join(mebibyte);
    CHECK(room->budget() == 2 * mebibyte);
    room->part(2 * mebibyte);
    CHECK(room->budget() == ReceiveRoom::usual);
}
