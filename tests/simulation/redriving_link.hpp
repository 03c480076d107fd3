// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/event_loop.hpp"
#include "ports/session_link.hpp"
#include "simulation/environment.hpp"

namespace sessionq::simulation {

/// A link of a redrive: to the dead letters, or to the session that it holds. Renews its locks.
class RedrivingLink final : private ports::LinkEvents {
public:
    struct Owner {
        std::function<void()> arrived; ///< messages, or the loss of the link
        std::function<void(std::int64_t number, const Failure*)> settled;
        std::function<bool()> renews; ///< false: it misses the renewal of its session
    };
    RedrivingLink(Environment& environment, core::EventLoop& loop, ports::SessionLinkPtr link,
                  Owner owner);

    [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }
    [[nodiscard]] const std::string& session_id() const { return link_->session_id(); }
    [[nodiscard]] std::vector<ports::Delivery*> take() { return std::exchange(arrived_, {}); }
    [[nodiscard]] bool has_some() const noexcept { return !arrived_.empty(); }
    void ask_for(std::uint32_t messages);
    void complete(ports::Delivery& delivery);
    void close(ports::SessionLink::DoneHandler handler) { link_->close(std::move(handler)); }

private:
    [[nodiscard]] ports::DeliveryPtr new_delivery() override {
        return std::make_unique<ports::Delivery>();
    }
    void on_delivery(ports::DeliveryPtr delivery) override;
    void on_settled(ports::Delivery& delivery, const Failure* failure) override;
    void on_drained() override {}
    void on_lost(const Failure& reason) override;

    void renew_after(Duration pause);
    void renew();

    Environment* environment_;
    core::EventLoop* loop_;
    Owner owner_;
    std::vector<ports::DeliveryPtr> all_{};
    std::vector<ports::Delivery*> arrived_{};
    std::vector<std::uint64_t> locked_{};
    std::uint32_t credit_{0};
    bool is_lost_{false};
    std::shared_ptr<bool> here_{std::make_shared<bool>(true)}; ///< null once destroyed
    ports::SessionLinkPtr link_;                               // ends before its messages
};

} // namespace sessionq::simulation
