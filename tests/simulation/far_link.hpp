// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simulation/environment.hpp"

namespace sessionq::simulation {

class NearLink;

/// The broker's half of a session link: credit, the end of the lock, and most faults.
class FarLink : public std::enable_shared_from_this<FarLink> {
public:
    FarLink(Environment& environment, LinkRecord& record, bool remove_on_transfer);

    /// Called when the session becomes free, for accepts that wait.
    std::function<void()> released;

    void attach(std::weak_ptr<NearLink> near, BrokerSession& session);
    [[nodiscard]] bool attached() const noexcept { return session_ != nullptr; }
    [[nodiscard]] BrokerSession* session() const noexcept { return session_; }
    [[nodiscard]] std::uint32_t id() const noexcept { return record_->id; }
    [[nodiscard]] std::size_t endpoint() const noexcept { return record_->endpoint; }

    // Requests that arrive.
    void flow(std::uint32_t count);
    void drain();
    void settle(DeliveryRecord& delivery);
    void renew(std::uint64_t operation);
    void close(std::uint64_t operation);

    /// Sends as many messages as the credit allows.
    void pump();
    /// The broker ends the link. The consumer learns of it sooner or later.
    void detach(Errc code, bool with_error);
    /// The connection has ended. The broker releases the session and tells nobody.
    void drop();

private:
    void watch_lock();
    void let_go();
    void excuse();

    Environment* environment_;
    LinkRecord* record_;
    bool remove_on_transfer_;
    std::weak_ptr<NearLink> near_;
    BrokerSession* session_{nullptr};
    std::uint32_t credit_{0};
    std::vector<MessageRecord*> sent_{};
    std::uint64_t last_tag_{0};
};

} // namespace sessionq::simulation
