// SPDX-License-Identifier: MIT
// Input from a client for the broker's nodes: tokens, addresses, filters, and requests with any
// body. The first byte chooses.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/address.hpp"
#include "server/attach_decision.hpp"
#include "server/claims.hpp"
#include "server/management.hpp"
#include "server/settlement.hpp"
#include "server/transfer.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;

namespace {

const server::AccessPolicy policy{.keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}};
const server::Limits limits{};

void put_token(std::string_view text) {
    server::Claims claims{policy};
    const std::size_t half = text.find('\n');
    if (half != std::string_view::npos) {
        static_cast<void>(
            claims.put_token(text.substr(0, half), text.substr(half + 1), WallTime{}));
    }
}

void attach(std::string_view text) {
    const std::size_t half = text.find('\n');
    amqp::Attach attach{.source = {.address = std::string{text.substr(0, half)}}};
    if (half != std::string_view::npos) {
        attach.source.filter = text.substr(half + 1);
        attach.properties = attach.source.filter;
    }
    const auto decision = server::decide_attach(attach, true);
    static_cast<void>(server::answer_session_filter(decision.session, "granted"));
}

void ask(std::string_view text) {
    test::ManualLoop loop;
    broker::Broker broker;
    core::TurnLine turns{loop};
    server::LimitStrikes strikes;
    const server::MemoryBook memory{limits.memory};
    server::MessageLocks message_locks;
    server::Peer peer{broker, loop, policy, limits, turns, message_locks, strikes, memory};
    static_cast<void>(peer.claims.log_in("RootManageSharedAccessKey", "SAS_KEY_VALUE"));
    const auto request = server::read_request(text);
    if (!request) {
        return;
    }
    for (const bool requires_session : {true, false}) {
        const std::string name = requires_session ? "orders" : "plain";
        static_cast<void>(
            broker.create_queue(name, {.requires_session = requires_session}, peer.now()));
        Message message = Message::of("body").in_session("a");
        static_cast<void>(broker.find(name).value()->send(std::vector{message}, peer.now()));
        server::Management management{peer, broker.find(name).value(), name + "/$management"};
        const auto answer = management.answer(*request);
        static_cast<void>(
            server::write_answer(answer, request->message_id, server::AnswerStyle::management));
        peer.locks.retire_unlinked(peer.now());
    }
}

void settle(std::string_view text) {
    static_cast<void>(server::decide_settlement(
        {.kind = amqp::OutcomeKind::rejected, .error = {.name = "x", .info = std::string{text}}},
        true));
}

void take(std::string_view text) {
    static_cast<void>(server::decode_message(text, {}, limits));
    server::BatchDecoder batch{text, limits};
    while (!batch.decode(1, {})) {
    }
    static_cast<void>(std::move(batch).take());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    switch (data[0] % 5) {
    case 0: put_token(text); break;
    case 1: attach(text); break;
    case 2: ask(text); break;
    case 3: settle(text); break;
    default: take(text); break;
    }
    return 0;
}
