// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/encoder.hpp"
#include "raw_peer.hpp"
#include "wire.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace sessionq::test;

namespace {

Attach receiver_attach() {
    return {.source = {.address = "orders",
                       .filter = encode(
                           Value::map({{Value::symbol("com.microsoft:session-filter"), "a"}}))},
            .target = {.address = "me"},
            .sender_mode = SenderSettleMode::unsettled,
            .receiver_mode = ReceiverSettleMode::second,
            .properties = encode(
                Value::map({{Value::symbol("com.microsoft:timeout"), std::uint32_t{5000}}}))};
}

/// A client's receiver attached to the server's sender.
struct Attached : Wire {
    explicit Attached(std::uint32_t frame_size = 65536) : Wire{{}, {}, frame_size} {
        run();
        session = client.begin_session();
        near.receiver = session->make_receiver("link");
        near.receiver->set_listener(&near);
        near.receiver->open(receiver_attach());
        run();
        far().sender->open(far().sender->remote());
        run();
    }
    ~Attached() {
        near.receiver.reset();
        session.reset();
    }
    LinkLog& far() { return *server_log.sessions.at(0)->links.at(0); }

    SessionPtr session{};
    LinkLog near{};
};

} // namespace

TEST_CASE("Engine: a connection opens through SASL and each side gets the other's open") {
    for (const std::size_t step : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
        CAPTURE(step);
        Wire wire;
        wire.run(step);
        REQUIRE(wire.client_log.peer);
        REQUIRE(wire.server_log.peer);
        CHECK(wire.server_log.peer->container == "client");
        CHECK(wire.server_log.peer->hostname == "host");
        CHECK(wire.server_log.peer->idle_time_out == 60000);
        CHECK(wire.client_log.peer->idle_time_out == 30000);
        CHECK(wire.client.is_open());
    }
}

TEST_CASE("Engine: the check decides about PLAIN logins") {
    const SaslCredentials credentials{
        .mechanism = SaslCredentials::Mechanism::plain, .user = "u", .password = "p"};
    Wire good{credentials, [](std::string_view user, std::string_view password) {
                  return user == "u" && password == "p";
              }};
    good.run();
    CHECK(good.client.is_open());
    Wire bad{credentials, [](std::string_view, std::string_view) { return false; }};
    bad.run();
    CHECK(bad.client_log.closed == 1);
    CHECK(bad.client_log.why.name == "amqp:unauthorized-access");
    CHECK(bad.server_log.closed == 1);
}

TEST_CASE("Engine: an attach carries filter, properties and settle modes both ways") {
    Attached wire;
    const Attach& seen = wire.far().remote;
    CHECK(seen.name == "link");
    CHECK(seen.source.address == "orders");
    CHECK(decode(seen.source.filter) == decode(receiver_attach().source.filter));
    CHECK(decode(seen.properties) == decode(receiver_attach().properties));
    CHECK(seen.sender_mode == SenderSettleMode::unsettled);
    CHECK(seen.receiver_mode == ReceiverSettleMode::second);
    CHECK(wire.near.opened);
    const Attach& echoed = wire.near.remote;
    CHECK(decode(echoed.source.filter) == decode(receiver_attach().source.filter));
    CHECK(echoed.receiver_mode == ReceiverSettleMode::second);
}

TEST_CASE("Engine: a message is delivered, answered and settled by both sides") {
    Attached wire;
    wire.near.receiver->add_credit(2);
    wire.run();
    CHECK(wire.far().sender->credit() == 2);
    const std::string tag = "0123456789abcdef";
    CHECK(wire.far().sender->send(tag, "first", false));
    wire.far().sender->send("settled-one", "second", true);
    wire.run();
    CHECK(wire.near.messages == std::vector<std::string>{"first", "second"});
    CHECK(wire.near.tags.at(0) == tag);
    REQUIRE(wire.near.deliveries.size() == 1);

    wire.near.deliveries[0].update({.kind = OutcomeKind::accepted});
    wire.far().settles = false;
    wire.run();
    REQUIRE(wire.far().outcomes.size() == 1);
    CHECK(wire.far().outcomes[0].kind == OutcomeKind::accepted);
    CHECK_FALSE(wire.far().settled[0]);
}

TEST_CASE("Engine: the broker's answer to an outcome reaches the receiver") {
    struct Answering final : LinkListener {
        void on_link_closed(const Condition&, bool) override {}
        void on_link_gone(const Condition&) override {}
        void on_disposition(DeliveryHandle delivery) override {
            Outcome answer = delivery.remote_outcome();
            seen.push_back(answer);
            answer.error = {};
            delivery.settle(answer);
        }
        std::vector<Outcome> seen{};
    } answering;
    Attached wire;
    wire.far().sender->set_listener(&answering);
    wire.near.receiver->add_credit(2);
    wire.run();
    wire.far().sender->send("1", "a", false);
    wire.far().sender->send("2", "b", false);
    wire.run();
    const std::string info = encode(Value::map({{Value::symbol("DeadLetterReason"), "bad"}}));
    wire.near.deliveries.at(0).update(
        {.kind = OutcomeKind::rejected,
         .error = {.name = "com.microsoft:dead-letter", .text = "t", .info = info}});
    wire.near.deliveries.at(1).update({.kind = OutcomeKind::modified, .undeliverable_here = true});
    wire.run();
    REQUIRE(answering.seen.size() == 2);
    CHECK(answering.seen[0].error.name == "com.microsoft:dead-letter");
    CHECK(decode(answering.seen[0].error.info) == decode(info));
    CHECK(answering.seen[1].undeliverable_here);
    REQUIRE(wire.near.outcomes.size() == 2);
    CHECK(wire.near.outcomes[0].kind == OutcomeKind::rejected);
    CHECK(wire.near.outcomes[0].error.empty());
    CHECK(wire.near.settled[0]);
    wire.far().sender->set_listener(nullptr);
}

TEST_CASE("Engine: a message of many frames arrives whole, in frames that the peer allows") {
    Attached wire{1024};
    const std::string large(100'000, 'x');
    wire.near.receiver->add_credit(1);
    wire.run(13);
    wire.far().sender->send("t", large, false);
    wire.run(1009);
    REQUIRE(wire.near.messages.size() == 1);
    CHECK(wire.near.messages[0] == large);
}

TEST_CASE("Engine: a drain is answered when the credit is returned") {
    Attached wire;
    wire.near.receiver->add_credit(5);
    wire.run();
    wire.far().sender->send("t", "one", true);
    CHECK(wire.near.receiver->drain());
    wire.run();
    CHECK(wire.near.drained == 0);
    CHECK(wire.far().sender->is_draining());
    wire.far().sender->drained();
    wire.run();
    CHECK(wire.near.messages.size() == 1);
    CHECK(wire.near.drained == 1);
    CHECK(wire.near.receiver->credit() == 0);
    CHECK_FALSE(wire.near.receiver->drain());
    wire.near.receiver->add_credit(1);
    wire.run();
    CHECK(wire.far().sender->credit() == 1);
    CHECK_FALSE(wire.far().sender->is_draining());
}

TEST_CASE("Engine: a drain needs no answer when messages have used the credit") {
    Attached wire;
    wire.near.receiver->add_credit(1);
    wire.run();
    wire.far().sender->send("t", "one", true);
    CHECK(wire.near.receiver->drain());
    wire.run();
    CHECK(wire.near.messages.size() == 1);
    CHECK(wire.near.drained == 1);
    wire.far().sender->drained();
    wire.run();
    CHECK(wire.near.drained == 1);
}

namespace {

/// A link to a receiver that takes messages of at most 10,000 bytes.
struct Bounded {
    explicit Bounded(std::uint32_t frame) : wire{{}, {}, frame} {
        wire.run();
        session = wire.client.begin_session();
        near.sender = session->make_sender("link");
        near.sender->set_listener(&near);
        near.sender->open({.target = {.address = "orders"}});
        wire.run();
        Attach answer = far().receiver->remote();
        answer.max_message_size = 10'000;
        far().receiver->open(answer);
        far().receiver->add_credit(4);
        wire.run();
    }
    ~Bounded() { near.sender.reset(); }

    LinkLog& far() { return *wire.server_log.sessions.at(0)->links.at(0); }

    Wire wire;
    SessionPtr session{};
    LinkLog near{};
};

} // namespace

TEST_CASE("Engine: a message above the link's limit closes the link before it is complete") {
    Bounded link{1024};
    CHECK(link.near.sender->remote_max_message_size() == 10'000);
    link.near.sender->send("t1", std::string(10'000, 'x'), true);
    link.near.sender->send("t2", std::string(100'000, 'x'), true);
    link.wire.run();
    CHECK(link.far().messages.size() == 1);
    CHECK(link.far().closed);
    CHECK(link.far().why.found == Errc::message_too_large);
    CHECK(link.near.why.name == "amqp:link:message-size-exceeded");
}

TEST_CASE("Engine: a link whose owner says so outlives a message above its limit") {
    for (const std::uint32_t frame : {1024U, 65536U}) { // many frames, and one or two
        Bounded link{frame};
        LinkLog& far = link.far();
        far.outlives_large = true;
        link.near.sender->send("t1", std::string(100'000, 'x'), false);
        link.near.sender->send("t2", "fits", false);
        link.near.sender->send("t3", std::string(10'001, 'x'), false);
        link.wire.run();
        CHECK(far.messages == std::vector<std::string>{"fits"});
        CHECK_FALSE(far.closed);
        REQUIRE(link.near.outcomes.size() == 2);
        for (const Outcome& outcome : link.near.outcomes) {
            CHECK(outcome.error.name == "amqp:link:message-size-exceeded");
        }
        CHECK(link.wire.server.arriving() == 0);
        CHECK(far.receiver->credit() == 1);
        // a sender that has settled its message hears only that the link is closed
        link.near.sender->send("t4", std::string(10'001, 'x'), true);
        link.wire.run();
        CHECK(far.closed);
    }
}

TEST_CASE("Engine: refuses sessions and links beyond the peer's limits") {
    Wire wire{{}, {}, 65536, 99};
    wire.run();
    std::vector<SessionPtr> sessions;
    while (auto session = wire.client.begin_session()) {
        sessions.push_back(std::move(session));
    }
    CHECK(sessions.size() == 100);
    sessions.resize(1);
    CHECK(wire.client.begin_session() == nullptr); // the peer has not ended the others yet
    wire.run();
    CHECK(wire.client.begin_session() != nullptr);
    std::vector<SenderLinkPtr> links;
    while (auto link = sessions[0]->make_sender("link " + std::to_string(links.size()))) {
        links.push_back(std::move(link));
    }
    CHECK(links.size() == handle_max + 1);
}

TEST_CASE("Engine: a session that ends right after its begin ends on both sides") {
    Wire wire;
    wire.run();
    for (int i = 0; i < 3; ++i) {
        auto session = wire.client.begin_session();
        session->end();
        session.reset();
        wire.run();
        CHECK(wire.server_log.sessions.back()->ended);
    }
    // A peer that does not wait for the answer to its begin.
    wire.server.input({"\0\0\0\x17\x02\0\0\x05\0\x53\x11\xc0\x0a\x04\x40\x43\x70\0\0\0\x0f\x52\x01"
                       "\0\0\0\x0c\x02\0\0\x05\0\x53\x17\x45",
                       35});
    wire.server.process();
    std::string answer;
    wire.server.take(answer);
    CHECK(wire.server_log.sessions.size() == 4);
    CHECK(wire.server_log.sessions.back()->ended);
    CHECK(answer.find({"\0\x53\x11\xc0", 4}) == 8);
    CHECK(answer.find({"\x08\x60\0\x05", 4}) == 13); // for the peer's channel 5
    CHECK(answer.find({"\0\x53\x17\xc0", 4}) != std::string::npos);
    CHECK(wire.server.is_open());
}

TEST_CASE("Engine: a refusal is an attach without termini, then a detach with the reason") {
    Wire wire;
    wire.run();
    auto session = wire.client.begin_session();
    LinkLog near;
    near.receiver = session->make_receiver("link");
    near.receiver->set_listener(&near);
    near.receiver->open(receiver_attach());
    wire.run();
    LinkLog& far = *wire.server_log.sessions.at(0)->links.at(0);
    SUBCASE("at once") { far.sender->refuse({.name = "com.microsoft:timeout", .text = "none"}); }
    SUBCASE("in two steps") {
        far.sender->open_refused();
        wire.run();
        CHECK(near.opened);
        CHECK_FALSE(near.remote.source.present);
        far.sender->close({.name = "com.microsoft:timeout", .text = "none"});
    }
    wire.run();
    CHECK(near.closed);
    CHECK(near.why.name == "com.microsoft:timeout");
    CHECK(near.why.text == "none");
    near.receiver.reset();
    session.reset();
    wire.run();
    CHECK(wire.server_log.sessions.at(0)->ended);
}

TEST_CASE("Engine: a detach without an error is reported without one") {
    Attached wire;
    wire.far().sender->close();
    wire.run();
    CHECK(wire.near.closed);
    CHECK(wire.near.closed_for_good);
    CHECK(wire.near.why.empty());
}

TEST_CASE("Engine: nothing is sent on a link that the peer has detached") {
    Attached wire;
    wire.near.receiver->add_credit(3);
    wire.run();
    wire.near.receiver->close();
    wire.run();
    CHECK(wire.far().closed);
    CHECK_FALSE(wire.far().sender->is_remote_open());
    wire.to_client.clear();
    CHECK_FALSE(wire.far().sender->send("1", "a", false));
    wire.run();
    CHECK(wire.to_client.empty());
    wire.far().sender->close();
    wire.run();
    CHECK_FALSE(wire.to_client.empty());
}

TEST_CASE("Engine: links and sessions may end in any order") {
    Attached wire;
    wire.near.receiver->add_credit(3);
    wire.run();
    wire.far().sender->send("1", "a", false);
    wire.run();
    SUBCASE("the client leaves with a message unsettled") {
        wire.near.receiver.reset();
        wire.session.reset();
        wire.run();
        CHECK(wire.far().closed);
        CHECK(wire.server_log.sessions.at(0)->ended);
    }
    SUBCASE("the server leaves first") {
        wire.far().sender.reset();
        wire.run();
        CHECK(wire.near.closed);
        wire.near.receiver.reset();
        wire.run();
    }
    SUBCASE("the server ends the session") {
        wire.server_log.sessions.at(0)->session->end({.name = "amqp:internal-error", .text = "x"});
        wire.run();
        CHECK(wire.near.gone);
        CHECK(wire.near.why.name == "amqp:internal-error");
    }
    auto again = wire.client.begin_session();
    LinkLog other;
    other.receiver = again->make_receiver("again");
    other.receiver->set_listener(&other);
    other.receiver->open(receiver_attach());
    wire.run();
    wire.server_log.sessions.back()->links.at(0)->sender->open(receiver_attach());
    wire.run();
    CHECK(other.opened);
    CHECK(wire.client.is_open());
    other.receiver.reset();
}

TEST_CASE("Engine: one connection serves a thousand links in turn") {
    Wire wire;
    wire.run();
    for (int i = 0; i < 1000; ++i) {
        auto session = wire.client.begin_session();
        LinkLog near;
        near.receiver = session->make_receiver("link " + std::to_string(i));
        near.receiver->set_listener(&near);
        near.receiver->open(receiver_attach());
        near.receiver->add_credit(1);
        wire.run();
        SessionLog& far = *wire.server_log.sessions.back();
        far.links.at(0)->sender->open(receiver_attach());
        far.links.at(0)->sender->send("t", "m", false);
        wire.run();
        CHECK(near.messages.size() == 1);
        near.receiver.reset();
        session.reset();
        wire.run();
        CHECK(far.ended);
        wire.server_log.sessions.clear();
    }
    CHECK(wire.client.sessions_left() == 65536);
}

TEST_CASE("Engine: a lost connection is reported once to links, sessions and owner") {
    Attached wire;
    wire.client.input_closed({.name = "amqp:connection:forced", .text = "reset by peer"});
    wire.client.process();
    wire.client.process();
    CHECK(wire.near.gone);
    CHECK(wire.client_log.closed == 1);
    CHECK(wire.client_log.why.text == "reset by peer");
    CHECK(wire.client.is_closed());
}

TEST_CASE("Engine: an orderly close is answered and its condition reported") {
    Attached wire;
    wire.server.close({.name = "amqp:connection:forced", .text = "upgrade"});
    wire.run();
    CHECK(wire.near.gone);
    CHECK(wire.client_log.closed == 1);
    CHECK(wire.client_log.why.name == "amqp:connection:forced");
    CHECK(wire.server_log.closed == 1);
    CHECK(wire.client.is_closed());
    CHECK(wire.server.is_closed());
}

TEST_CASE("Engine: bytes that are not AMQP end the connection with an error") {
    Wire wire;
    wire.client.input("HTTP/1.1 400 Bad Request\r\n");
    wire.client.process();
    CHECK(wire.client_log.closed == 1);
    CHECK(wire.client_log.why.name == "amqp:connection:framing-error");
}

TEST_CASE("Engine: a heartbeat is an empty frame, sent only if nothing else is") {
    Attached wire;
    std::string output;
    wire.client.heartbeat();
    wire.client.heartbeat();
    wire.client.take(output);
    CHECK(output == std::string_view{"\0\0\0\x08\x02\0\0\0", 8});
    wire.server.input(output);
    wire.client.heartbeat();
    wire.run();
    CHECK(wire.server.is_open());
}

TEST_CASE("Engine: the server sees a batch's message format and the sender's tag") {
    Wire wire;
    wire.run();
    auto session = wire.client.begin_session();
    LinkLog near;
    near.sender = session->make_sender("link");
    near.sender->set_listener(&near);
    near.sender->open({.target = {.address = "orders"}});
    wire.run();
    LinkLog& far = *wire.server_log.sessions.at(0)->links.at(0);
    far.receiver->open(far.receiver->remote());
    far.receiver->add_credit(2);
    wire.run();
    near.sender->send("t1", "batch", false, 0x80013700);
    near.sender->send("t2", "plain", false);
    wire.run();
    CHECK(far.formats == std::vector<std::uint32_t>{0x80013700, 0});
    CHECK(far.tags == std::vector<std::string>{"t1", "t2"});
    far.deliveries.at(0).settle({.kind = OutcomeKind::accepted});
    wire.run();
    REQUIRE(near.outcomes.size() == 1);
    CHECK(near.outcomes[0].kind == OutcomeKind::accepted);
    near.sender.reset();
}

namespace {

/// A server's engine that tells two things in one go.
struct InTurns : RawPeer {
    InTurns() {
        engine = std::make_unique<Engine>(
            EngineOptions{.is_server = true, .open = {.container = "us"}, .most_at_once = 2}, log);
        open();
    }
    void lose() {
        engine->input_closed({.name = "amqp:connection:forced"});
        engine->process();
    }
};

/// Two sessions of two links.
struct LinksInTurns : InTurns {
    LinksInTurns() {
        for (std::uint16_t channel = 0; channel < 2; ++channel) {
            begin(channel);
            attach("a" + std::to_string(channel), 0, true, channel);
            attach("b" + std::to_string(channel), 1, false, channel);
        }
    }
    [[nodiscard]] int links_gone() const {
        int count = 0;
        for (const auto& one : log.sessions) {
            for (const auto& link : one->links) {
                count += link->gone ? 1 : 0;
            }
        }
        return count;
    }
    [[nodiscard]] int ended() const {
        int count = 0;
        for (const auto& one : log.sessions) {
            count += one->ended ? 1 : 0;
        }
        return count;
    }
};

} // namespace

TEST_CASE("Engine: a disposition of many deliveries is told in turns; the next frame waits") {
    InTurns peer;
    peer.begin();
    LinkLog& link = peer.attach("link", 0, true);
    peer.flow(0, 0, 5);
    for (int i = 0; i < 5; ++i) {
        link.sender->send("t" + std::to_string(i), "message", false);
    }
    peer.read();
    const auto state = Value::described(std::uint64_t{0x24}, List{});
    const std::string disposition =
        frame(0x15, {true, std::uint32_t{0}, std::uint32_t{9}, true, state});
    const std::string detach = frame(0x16, {std::uint32_t{0}, true});
    peer.say(disposition + detach.substr(0, 10));
    CHECK(link.outcomes.size() == 2);
    CHECK(peer.engine->is_busy());
    CHECK(peer.engine->held() >= 10);
    peer.engine->go_on();
    CHECK(link.outcomes.size() == 4);
    SUBCASE("all is told") {
        peer.say(detach.substr(10)); // more input is kept too
        CHECK_FALSE(link.closed);
        peer.engine->go_on();
        CHECK(link.outcomes.size() == 5);
        CHECK(link.closed);
        CHECK_FALSE(peer.engine->is_busy());
        CHECK(peer.engine->held() == 0);
    }
    SUBCASE("the connection is lost meanwhile") {
        peer.engine->input_closed({.name = "amqp:connection:forced"});
        CHECK_FALSE(peer.engine->is_busy());
        peer.engine->process();
        while (peer.engine->is_busy()) {
            peer.engine->go_on();
        }
        CHECK(link.outcomes.size() == 4);
        CHECK(link.gone);
        CHECK(peer.log.closed == 1);
    }
    SUBCASE("the link goes meanwhile") {
        link.sender.reset();
        peer.engine->go_on();
        CHECK(link.outcomes.size() == 4);
        CHECK_FALSE(peer.engine->is_busy());
    }
}

TEST_CASE("Engine: of a disposition with a long outcome fewer deliveries are told in a turn") {
    InTurns peer;
    peer.begin();
    LinkLog& link = peer.attach("link", 0, true);
    peer.flow(0, 0, 2);
    link.sender->send("t0", "message", false);
    link.sender->send("t1", "message", false);
    peer.read();
    const auto error = Value::described(std::uint64_t{0x1d},
                                        List{Symbol{"amqp:rejected"}, std::string(5'000, 'x')});
    const auto state = Value::described(std::uint64_t{0x25}, List{error});
    peer.say(frame(0x15, {true, std::uint32_t{0}, std::uint32_t{1}, true, state}));
    CHECK(link.outcomes.size() == 1);
    CHECK(peer.engine->is_busy());
    peer.engine->go_on();
    CHECK(link.outcomes.size() == 2);
    CHECK_FALSE(peer.engine->is_busy());
}

TEST_CASE("Engine: the end of many links is told in turns, and the end of the connection last") {
    LinksInTurns peer;
    SUBCASE("the peer closes") { peer.say(0x18, {}); }
    SUBCASE("the stream ends") { peer.lose(); }
    CHECK(peer.links_gone() == 0);
    CHECK(peer.engine->is_closed());
    CHECK(peer.engine->is_busy());
    peer.engine->go_on();
    CHECK(peer.links_gone() == 2);
    CHECK(peer.ended() == 0);
    peer.engine->go_on();
    CHECK(peer.links_gone() == 3);
    CHECK(peer.ended() == 1);
    peer.engine->go_on();
    CHECK(peer.links_gone() == 4);
    CHECK(peer.ended() == 2);
    CHECK(peer.log.closed == 0);
    peer.engine->go_on();
    CHECK(peer.log.closed == 1);
    CHECK_FALSE(peer.engine->is_busy());
}

TEST_CASE("Engine: what goes while an end is told in turns is not told") {
    LinksInTurns peer;
    peer.lose();
    SUBCASE("a link") {
        peer.log.sessions[0]->links.pop_back();
        peer.engine->go_on();
        CHECK(peer.links_gone() == 1);
        CHECK(peer.ended() == 1);
        peer.engine->go_on();
        CHECK(peer.links_gone() == 3);
        CHECK(peer.ended() == 1);
        peer.engine->go_on();
        CHECK(peer.ended() == 2);
    }
    SUBCASE("a session") {
        peer.log.sessions.erase(peer.log.sessions.begin());
        peer.engine->go_on();
        CHECK(peer.links_gone() == 2);
        CHECK(peer.ended() == 0);
        peer.engine->go_on();
        CHECK(peer.ended() == 1);
    }
    CHECK(peer.log.closed == 1);
    CHECK_FALSE(peer.engine->is_busy());
}

TEST_CASE("Engine: until a link is told of an end, its owner may use it, and nothing is written") {
    InTurns peer;
    const SessionLog& session = peer.begin();
    peer.attach("first", 0, true);
    peer.attach("second", 1, true);
    LinkLog& receiver = peer.attach("third", 2, false);
    receiver.receiver->add_credit(2);
    peer.transfer(2, 0, "message");
    REQUIRE(receiver.deliveries.size() == 1);
    LinkLog& sender = peer.attach("fourth", 3, true);
    peer.flow(3, 0, 1);
    const DeliveryHandle sent = sender.sender->send("tag", "message", false);
    peer.read();
    peer.seen.clear();
    peer.lose();
    peer.engine->go_on();
    REQUIRE_FALSE(receiver.gone);
    receiver.deliveries[0].settle({.kind = OutcomeKind::accepted});
    receiver.receiver->add_credit(1);
    sender.sender->send("more", "message", false);
    sender.sender->send("waits for credit", "message", false);
    CHECK(sent.tag() == "tag");
    CHECK(session.session->links_left() == 0);
    CHECK(session.session->make_sender("fifth") == nullptr);
    while (peer.engine->is_busy()) {
        peer.engine->go_on();
    }
    CHECK(receiver.gone);
    CHECK(sender.gone);
    CHECK(peer.engine->held() == 0);
    peer.read();
    CHECK(peer.seen.empty());
    CHECK(peer.log.closed == 1);
}

TEST_CASE("Engine: a listener that needs time holds the next frame") {
    struct Holding final : amqp::LinkListener {
        void on_link_closed(const Condition&, bool) override { closed = true; }
        void on_link_gone(const Condition&) override {}
        void on_delivery(DeliveryHandle, std::string_view) override {
            ++deliveries;
            receiver->session().engine().hold();
        }
        void on_disposition(DeliveryHandle) override {}

        amqp::ReceiverLinkPtr receiver{};
        int deliveries{0};
        bool closed{false};
    };
    RawPeer peer;
    peer.open();
    peer.begin();
    Holding holding;
    holding.receiver = std::move(peer.attach("link", 0, false).receiver);
    holding.receiver->set_listener(&holding);
    holding.receiver->add_credit(2);
    peer.read();
    const auto transfer = [](std::uint32_t id) {
        return frame(0x14, {std::uint32_t{0}, id, Value::binary("t")}, "message");
    };
    peer.say(transfer(0) + transfer(1) + frame(0x16, {std::uint32_t{0}, true}));
    CHECK(holding.deliveries == 1);
    CHECK(peer.engine->is_held());
    CHECK_FALSE(peer.engine->is_busy()); // it would turn and turn
    peer.engine->go_on();
    CHECK(holding.deliveries == 1);
    peer.engine->let_go();
    CHECK(peer.engine->is_busy());
    peer.engine->go_on();
    CHECK(holding.deliveries == 2);
    CHECK_FALSE(holding.closed);
    peer.engine->let_go();
    peer.engine->go_on();
    CHECK(holding.closed);
    CHECK_FALSE(peer.engine->is_busy());
    holding.receiver.reset();
}

TEST_CASE("Engine: an outcome that is larger than a frame of the peer's is not said, and the rest "
          "goes on") {
    Attached wire{512};
    wire.near.receiver->add_credit(3);
    wire.run();
    for (const char* tag : {"1", "2", "3"}) {
        wire.far().sender->send(tag, tag, false);
    }
    wire.run();
    REQUIRE(wire.near.deliveries.size() == 3);
    const std::string map = encode(Value::map({{Value::symbol("k"), std::string(600, 'x')}}));
    Outcome large;
    SUBCASE("annotations") { large = {.kind = OutcomeKind::modified, .annotations = map}; }
    SUBCASE("the details of a rejection") {
        large = {.kind = OutcomeKind::rejected,
                 .error = {.name = "com.microsoft:dead-letter", .info = map}};
    }
    CHECK_FALSE(wire.near.deliveries[0].update(large));
    CHECK(wire.near.deliveries[1].update({.kind = OutcomeKind::accepted}));
    wire.run();
    REQUIRE(wire.far().outcomes.size() == 1);
    CHECK(wire.far().outcomes[0].kind == OutcomeKind::accepted);
    CHECK(wire.near.deliveries[0].update({.kind = OutcomeKind::modified}));
    wire.near.deliveries[2].settle(large); // says what fits
    wire.run();
    REQUIRE(wire.far().outcomes.size() == 3);
    CHECK(wire.far().outcomes[1].kind == OutcomeKind::modified);
    CHECK(wire.far().outcomes[2].kind == large.kind);
    CHECK(wire.far().outcomes[2].error.name == large.error.name);
    CHECK(wire.client.is_open());
    CHECK(wire.server.is_open());
}

TEST_CASE("Engine: a link whose attach is larger than a frame of the peer's is refused alone") {
    Attached wire{512};
    LinkLog near;
    near.receiver = wire.session->make_receiver("other");
    near.receiver->set_listener(&near);
    SUBCASE("its own") {
        Attach attach = receiver_attach();
        attach.source.address = std::string(600, 'x');
        near.receiver->add_credit(1);
        near.receiver->open(attach);
        CHECK_FALSE(near.closed); // it is told by a later turn
        wire.run();
        CHECK(near.closed);
        CHECK(near.why.found == Errc::message_too_large);
        CHECK(near.why.text.find("'other'") != std::string::npos);
        CHECK(wire.server_log.sessions.at(0)->links.size() == 1);
    }
    SUBCASE("its own, and its owner leaves it before it is told") {
        Attach attach = receiver_attach();
        attach.source.address = std::string(600, 'x');
        near.receiver->open(attach);
        near.receiver.reset();
        wire.run();
        CHECK_FALSE(near.closed);
    }
    SUBCASE("the answer to the peer's") {
        near.receiver->open(receiver_attach());
        wire.run();
        LinkLog& far = *wire.server_log.sessions.at(0)->links.at(1);
        Attach answer = far.remote;
        answer.properties = encode(Value::map({{Value::symbol("p"), std::string(600, 'x')}}));
        far.sender->open(answer);
        wire.run();
        CHECK(near.opened);
        CHECK_FALSE(near.remote.source.present);
        CHECK(near.closed);
        CHECK(near.why.name == "amqp:link:message-size-exceeded");
        CHECK(far.closed);
        CHECK(far.why.found == Errc::message_too_large);
    }
    near.receiver.reset();
    wire.near.receiver->add_credit(1);
    wire.run();
    wire.far().sender->send("t", "goes on", true);
    wire.run();
    CHECK(wire.near.messages == std::vector<std::string>{"goes on"});
    CHECK(wire.client.is_open());
    CHECK(wire.server.is_open());
}

TEST_CASE("Engine: an open fits into the smallest frame, because no other is agreed yet") {
    const auto opened = [](const std::string& hostname, ConnectionLog& log) {
        Engine client{{.open = {.container = "client",
                                .hostname = hostname,
                                .properties = encode(Value::map(
                                    {{Value::symbol("product"), std::string(600, 'x')}})),
                                .max_frame_size = 65536}},
                      log};
        client.process();
        std::string bytes;
        client.take(bytes);
        return bytes;
    };
    ConnectionLog log;
    const std::string bytes = opened("a.example", log);
    CHECK(bytes.size() <= protocol_header.size() + smallest_max_frame_size);
    CHECK(bytes.find("a.example") != std::string::npos);
    CHECK(log.closed == 0);
    CHECK(opened(std::string(600, 'h'), log) == protocol_header);
    CHECK(log.closed == 1);
    CHECK(log.why.found == Errc::invalid_option);
}
