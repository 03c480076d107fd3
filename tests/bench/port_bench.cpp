// SPDX-License-Identifier: MIT
// The port of the embedded broker without a processor: what each message costs the receive thread
// that nobody above the port can save.

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <sessionq/sessionq.hpp>

#include "client/connecting/client_core.hpp"
#include "core/access.hpp"
#include "ports/endpoint.hpp"

namespace {

using namespace sessionq;
using Clock = std::chrono::steady_clock;

/// Completes what comes on one link, many messages in one turn of the loop.
class Completing final : public ports::LinkEvents {
public:
    Completing(core::EventLoop& loop, ports::SessionLinkPtr link, std::atomic<std::size_t>& left,
               std::promise<void>& done)
        : loop_{loop}, link_{std::move(link)}, left_{left}, done_{done} {
        link_->set_events(*this);
        link_->add_credit(window);
    }

private:
    static constexpr std::uint32_t window = 132; // as for batches of 100

    ports::DeliveryPtr new_delivery() override { return std::make_unique<ports::Delivery>(); }
    void on_delivery(ports::DeliveryPtr delivery) override {
        if (come_.empty()) {
            loop_.post([this] { complete(); });
        }
        come_.push_back(std::move(delivery));
    }
    void on_settled(ports::Delivery& delivery, const Failure* /*failure*/) override {
        delete &delivery;
        if (++settled_ % (window / 2) == 0) {
            link_->add_credit(window / 2);
        }
        if (left_.fetch_sub(1, std::memory_order_relaxed) == 1) {
            done_.set_value();
        }
    }
    void on_drained() override {}
    void on_lost(const Failure& /*reason*/) override {}

    void complete() {
        for (ports::DeliveryPtr& each : std::exchange(come_, {})) {
            link_->settle(*each.release(), {.outcome = ports::Outcome::complete});
        }
    }

    core::EventLoop& loop_;
    ports::SessionLinkPtr link_;
    std::vector<ports::DeliveryPtr> come_{};
    std::size_t settled_{0};
    std::atomic<std::size_t>& left_;
    std::promise<void>& done_;
};

/// Messages a second with 64 sessions, from the same broker as `batches`: its upper bound.
void port_alone(benchmark::State& state) {
    constexpr std::size_t sessions = 64;
    constexpr std::size_t messages = 400'000;
    for (auto _ : state) {
        LocalBroker broker;
        broker.create_queue("bench", {.requires_session = true});
        Client client = Client::in_process(broker);
        const Sender sender{client, "bench"};
        for (std::size_t sent = 0; sent < messages; sent += 1'000) {
            std::vector<Message> batch;
            for (std::size_t i = sent; i < sent + 1'000; ++i) {
                batch.push_back(
                    Message::of("0123456789abcdef").in_session("s" + std::to_string(i % sessions)));
            }
            sender.send_all(std::move(batch));
        }
        ports::Endpoint& endpoint = *detail::client::Access::core(client)->thread(0).endpoint;
        std::atomic<std::size_t> left{messages};
        std::promise<void> done;
        std::vector<std::unique_ptr<Completing>> links;
        const auto begin = Clock::now();
        endpoint.loop().post([&] {
            for (std::size_t i = 0; i < sessions; ++i) {
                endpoint.accept({.entity = "bench"},
                                [&](core::Result<ports::SessionLinkPtr> given) {
                                    links.push_back(std::make_unique<Completing>(
                                        endpoint.loop(), std::move(given.value()), left, done));
                                });
            }
        });
        done.get_future().wait();
        state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count());
        std::promise<void> gone;
        endpoint.loop().post([&] {
            links.clear();
            gone.set_value();
        });
        gone.get_future().wait();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(messages) *
                            static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(port_alone)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

} // namespace
