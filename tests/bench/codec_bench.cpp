// SPDX-License-Identifier: MIT
// The cost of a message's wire form, with bodies of 256 B and 4 KiB: our codec, and Qpid Proton's
// pn_message on the same bytes.
//
// receive: from the bytes of a delivery to its facts, session and body; "whole" decodes the rest
// too.
// send: from an application's message to its bytes. deliver: from a stored message to a delivery,
// with the sender's sections unchanged.
//
// "allocations" counts calls of operator new per message. Proton's own allocations (malloc) are not
// counted.
#include <benchmark/benchmark.h>

#include <proton/codec.h>
#include <proton/message.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/codec/message_codec.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

} // namespace

// Not inlined, because the compiler would otherwise see only one of new and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace sessionq;
using namespace std::chrono_literals;

const amqp::ClockReading at{.now = TimePoint{1h},
                            .wall = WallTime{std::chrono::milliseconds{1'700'000'000'000}}};

Message message_of(std::size_t body) {
    return {.body = std::string(body, 'x'),
            .session_id = "customer-4711",
            .message_id = "5c8524e2-d6ee-4ee4-a1f7-e64be26f785e",
            .subject = "order-placed",
            .content_type = "application/json",
            .properties = {{"tenant", std::string{"north"}},
                           {"attempt", std::int64_t{1}},
                           {"traceparent", std::string(55, '0')}},
            .time_to_live = 1h};
}

std::string delivery_of(std::size_t body) {
    const DeliveryFacts facts{.sequence_number = 1234567, .enqueued_time = at.wall};
    const auto content = amqp::EncodedContent::make(amqp::encode_message(message_of(body), at), at);
    return amqp::encode_delivery(*content.value(), {.facts = facts, .locked_until = at.wall + 30s},
                                 at);
}

std::size_t body_size(const benchmark::State& state) {
    return static_cast<std::size_t>(state.range(0));
}

/// Runs `once` and reports its time and allocations.
template <typename Once>
void measure(benchmark::State& state, Once&& once) {
    const std::uint64_t before = allocations.load();
    for (auto _ : state) {
        once();
    }
    state.counters["allocations"] =
        static_cast<double>(allocations.load() - before) / static_cast<double>(state.iterations());
}

void receive_body(benchmark::State& state) {
    const std::string wire = delivery_of(body_size(state));
    measure(state, [&] {
        const auto delivery = amqp::decode_delivery(wire, at);
        benchmark::DoNotOptimize(delivery.value().content->body().data());
        benchmark::DoNotOptimize(delivery.value().content->session_id());
    });
}

void receive_whole(benchmark::State& state) {
    const std::string wire = delivery_of(body_size(state));
    measure(state, [&] {
        const auto delivery = amqp::decode_delivery(wire, at);
        benchmark::DoNotOptimize(delivery.value().content->message().properties.size());
    });
}

void send(benchmark::State& state) {
    const Message message = message_of(body_size(state));
    measure(state, [&] { benchmark::DoNotOptimize(amqp::encode_message(message, at).size()); });
}

void deliver(benchmark::State& state) {
    const auto content =
        amqp::EncodedContent::make(amqp::encode_message(message_of(body_size(state)), at), at);
    const DeliveryFacts facts{.sequence_number = 1234567, .enqueued_time = at.wall};
    measure(state, [&] {
        const amqp::DeliveryNotes notes{.facts = facts, .locked_until = at.wall + 30s};
        benchmark::DoNotOptimize(amqp::encode_delivery(*content.value(), notes, at).size());
    });
}

/// Proton decodes the whole message for the body. One pn_message is reused, as its users do.
void proton_receive(benchmark::State& state) {
    const std::string wire = delivery_of(body_size(state));
    pn_message_t* message = pn_message();
    measure(state, [&] {
        pn_message_decode(message, wire.data(), wire.size());
        pn_data_t* body = pn_message_body(message);
        pn_data_next(body);
        const std::string copy{pn_data_get_binary(body).start, pn_data_get_binary(body).size};
        benchmark::DoNotOptimize(copy.data());
        benchmark::DoNotOptimize(pn_message_get_group_id(message));
    });
    pn_message_free(message);
}

void proton_send(benchmark::State& state) {
    const std::string wire = amqp::encode_message(message_of(body_size(state)), at);
    pn_message_t* message = pn_message();
    pn_message_decode(message, wire.data(), wire.size());
    pn_message_set_inferred(message, true);
    std::vector<char> bytes(wire.size() + 1024);
    measure(state, [&] {
        std::size_t size = bytes.size();
        pn_message_encode(message, bytes.data(), &size);
        benchmark::DoNotOptimize(size);
    });
    pn_message_free(message);
}

} // namespace

BENCHMARK(receive_body)->Arg(256)->Arg(4096);
BENCHMARK(receive_whole)->Arg(256)->Arg(4096);
BENCHMARK(proton_receive)->Arg(256)->Arg(4096);
BENCHMARK(send)->Arg(256)->Arg(4096);
BENCHMARK(proton_send)->Arg(256)->Arg(4096);
BENCHMARK(deliver)->Arg(256)->Arg(4096);
