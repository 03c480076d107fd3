// SPDX-License-Identifier: MIT
#include "simulation/network.hpp"

#include <algorithm>

namespace sessionq::simulation {

/// A client's attempt to get a wire.
class Network::Attempt final : public std::enable_shared_from_this<Attempt> {
public:
    Attempt(core::EventLoop& loop, std::size_t endpoint, amqp::Dialed dialed)
        : loop_{&loop}, endpoint_{endpoint}, dialed_{std::move(dialed)} {}

    void drop() noexcept { dialed_ = nullptr; }

    [[nodiscard]] bool is_wanted() const noexcept { return dialed_ != nullptr; }
    [[nodiscard]] core::EventLoop& loop() const noexcept { return *loop_; }
    [[nodiscard]] std::size_t endpoint() const noexcept { return endpoint_; }

    /// Answers by a task of the client's loop, once.
    void tell(std::function<core::Result<amqp::StreamPtr>()> make) {
        loop_->post([self = shared_from_this(), make = std::move(make)] {
            if (self->dialed_) {
                const amqp::Dialed dialed = std::exchange(self->dialed_, nullptr);
                dialed(make());
            }
        });
    }
    void fail(Failure why) {
        tell([why = std::move(why)]() -> core::Result<amqp::StreamPtr> { return why; });
    }

private:
    core::EventLoop* loop_;
    std::size_t endpoint_;
    amqp::Dialed dialed_; // null: answered or dropped
};

amqp::Dial Network::dial_for(std::size_t endpoint) {
    heard_.resize(std::max(heard_.size(), endpoint + 1));
    struct Dialing final : amqp::Dialing {
        explicit Dialing(std::shared_ptr<Attempt> made) : attempt{std::move(made)} {}
        ~Dialing() override { attempt->drop(); }
        std::shared_ptr<Attempt> attempt;
    };
    return [this, endpoint](amqp::ConnectionHost& host, const amqp::Target&, TimePoint deadline,
                            amqp::Dialed dialed) {
        auto attempt = std::make_shared<Attempt>(host.loop(), endpoint, std::move(dialed));
        environment_->scheduler.trace("endpoint", endpoint, " dials");
        environment_->scheduler.at(deadline, [weak = std::weak_ptr{attempt}] {
            if (const auto waiting = weak.lock()) {
                waiting->fail({.code = Errc::timeout, .detail = "nobody answered"});
            }
        });
        if (!environment_->chance(faults_.dial_mute)) {
            environment_->scheduler.after(
                environment_->latency(), [this, weak = std::weak_ptr{attempt}] {
                    if (const auto waiting = weak.lock(); waiting && waiting->is_wanted()) {
                        connect(waiting);
                    }
                });
        }
        return std::make_unique<Dialing>(std::move(attempt));
    };
}

void Network::connect(const std::shared_ptr<Attempt>& attempt) {
    Scheduler& scheduler = environment_->scheduler;
    const Listener listener = listen();
    if (scheduler.now() < down_until_ || listener.loop == nullptr ||
        environment_->chance(faults_.dial_refused)) {
        scheduler.after(environment_->latency(), [attempt] {
            attempt->fail({.code = Errc::connection_refused, .detail = "nobody listens"});
        });
        return;
    }
    const std::uint32_t number = ++last_wire_;
    const std::size_t endpoint = attempt->endpoint();
    auto wire = std::make_shared<Wire>(
        *environment_, faults_, number, endpoint,
        Wire::Watcher{.server_over = [this, number] { server_over(number); },
                      .client_reads = [this, number, endpoint] { heard_[endpoint] = number; }});
    std::erase_if(wires_, [](const auto& each) { return each.expired(); });
    wires_.push_back(wire);
    scheduler.trace("wire", number, " to endpoint", attempt->endpoint());
    listener.loop->post([listener, stream = wire->open(Wire::Side::server, *listener.loop)] {
        listener.serve(stream);
    });
    scheduler.after(environment_->latency(), [attempt, wire] {
        attempt->tell([attempt, wire]() -> core::Result<amqp::StreamPtr> {
            return wire->open(Wire::Side::client, attempt->loop());
        });
    });
}

std::uint32_t Network::last_heard(std::size_t endpoint) const noexcept { return heard_[endpoint]; }

std::shared_ptr<Wire> Network::some_wire() {
    std::vector<std::shared_ptr<Wire>> whole;
    for (const auto& weak : wires_) {
        if (auto wire = weak.lock(); wire && wire->is_whole()) {
            whole.push_back(std::move(wire));
        }
    }
    return whole.empty() ? nullptr : whole[environment_->scheduler.random().below(whole.size())];
}

void Network::cut_one() {
    const auto wire = some_wire();
    if (!wire) {
        return;
    }
    Scheduler& scheduler = environment_->scheduler;
    down_until_ = std::max(
        down_until_, scheduler.now() + scheduler.between(milliseconds{0}, faults_.outage_high));
    const auto learns = [&]() -> Duration {
        return !environment_->chance(faults_.half_open) ? environment_->latency()
               : scheduler.chance(50) ? scheduler.between(milliseconds{1}, seconds{30})
                                      : Duration::max();
    };
    const Duration client = learns();
    wire->cut(client, learns());
}

void Network::server_dies() {
    for (const auto& weak : wires_) {
        if (const auto wire = weak.lock()) {
            if (environment_->chance(faults_.half_open)) {
                const bool learns = environment_->scheduler.chance(50);
                wire->cut(learns ? environment_->scheduler.between(milliseconds{1}, seconds{30})
                                 : Duration::max(),
                          Duration::max());
            }
            wire->server_dies();
        }
    }
}

void Network::client_dies(std::size_t endpoint) {
    for (const auto& weak : wires_) {
        const auto wire = weak.lock();
        if (!wire || wire->endpoint() != endpoint) {
            continue;
        }
        if (environment_->chance(faults_.half_open)) {
            const bool learns = environment_->scheduler.chance(50);
            wire->cut(Duration::max(),
                      learns ? environment_->scheduler.between(milliseconds{1}, seconds{30})
                             : Duration::max());
        } else if (environment_->scheduler.chance(50)) {
            wire->cut(Duration::max(), environment_->latency());
        }
        wire->client_dies();
    }
}

void Network::stall_one() {
    if (const auto wire = some_wire()) {
        const auto writer =
            environment_->scheduler.chance(50) ? Wire::Side::client : Wire::Side::server;
        wire->stall(writer, environment_->scheduler.between(milliseconds{1}, faults_.stall_high));
    }
}

void Network::mend() {
    down_until_ = {};
    faults_ = {.pieces = faults_.pieces,
               .commit_high = faults_.commit_high,
               .token_life = faults_.token_life};
}

} // namespace sessionq::simulation
