// SPDX-License-Identifier: MIT
#include "simulation/port_stage.hpp"

#include <algorithm>

namespace sessionq::simulation {

PortStage::PortStage(std::uint64_t seed, Trace trace, const Setup& setup)
    : Stage{seed, std::move(trace), setup}, server_{environment()} {
    connect();
}

void PortStage::connect() {
    for (std::size_t i = 0; i < loops().size(); ++i) {
        endpoints_.push_back(std::make_unique<SimEndpoint>(environment(), server_, *loops()[i], i));
    }
}

void PortStage::kill_consumer() {
    Stage::kill_consumer();
    for (auto& endpoint : endpoints_) {
        endpoint->die();
        dead_.push_back(std::move(endpoint));
    }
    endpoints_.clear();
}

void PortStage::revive_consumer() {
    Stage::revive_consumer();
    connect();
}

void PortStage::bury() {
    dead_.clear();
    Stage::bury();
}

std::vector<ports::Endpoint*> PortStage::endpoints() {
    std::vector<ports::Endpoint*> all;
    for (const auto& endpoint : endpoints_) {
        all.push_back(endpoint.get());
    }
    return all;
}

void PortStage::make_trouble() {
    const Faults& faults = setup().faults;
    repeat(faults.detach_every, [this] { server_.detach_one(); });
    repeat(faults.disconnect_every, [this] {
        if (endpoints_.empty()) {
            return;
        }
        endpoints_[scheduler().random().below(endpoints_.size())]->disconnect(
            scheduler().between(milliseconds{0}, setup().faults.outage_high));
    });
    repeat(faults.busy_every, [this] {
        environment().busy = true;
        scheduler().after(scheduler().between(milliseconds{1}, setup().faults.busy_high),
                          [this] { environment().busy = false; });
    });
}

void PortStage::mend() {
    environment().busy = false;
    for (const auto& endpoint : endpoints_) {
        endpoint->reconnect();
    }
    server_.heal();
}

void PortStage::close() {
    Stage::close();
    const bool leases_end_by_word =
        setup().faults.disconnect_every == Duration::zero() && !setup().consumer_dies();
    // One that was granted a moment ago, after its accept was given up, is on its way back (R19).
    const auto is_on_its_way = [this](std::uint32_t holder) {
        return std::ranges::any_of(environment().links, [&](const LinkRecord& link) {
            return link.id == holder &&
                   scheduler().now() - link.accepted < std::chrono::milliseconds{100};
        });
    };
    for (const auto& [key, session] : environment().broker.sessions()) {
        if (session.holder != 0 && leases_end_by_word && !is_on_its_way(session.holder)) {
            environment().verdict.report("(h) stop (R18)",
                                         "session " + session.id +
                                             " is still locked at the broker by link" +
                                             std::to_string(session.holder));
        }
    }
}

} // namespace sessionq::simulation
