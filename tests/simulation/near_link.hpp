// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ports/session_link.hpp"
#include "simulation/channel.hpp"
#include "simulation/environment.hpp"
#include "simulation/link_book.hpp"
#include "simulation/sim_loop.hpp"

namespace sessionq::simulation {

class FarLink;

/// The consumer's half of a session link. Lives as long as something is under way. The consumer
/// holds it through a `SimLink`.
class NearLink : public std::enable_shared_from_this<NearLink> {
public:
    using Answer = std::function<void(const Failure*)>;

    NearLink(Environment& environment, SimLoop& loop, LinkRecord& record, Channel& up,
             std::shared_ptr<FarLink> far);
    ~NearLink();

    // Calls of the consumer, through SimLink.
    void set_events(ports::LinkEvents& events) noexcept {
        events_ = &events;
        book_.taken();
    }
    void add_credit(std::uint32_t count);
    void drain();
    void settle(ports::Delivery& delivery, const ports::Settlement& settlement);
    void renew(ports::SessionLink::LockHandler handler);
    void ask(std::function<void(FarLink&, std::uint64_t operation)> request, Answer answer);
    /// Counts a request for the state until its answer.
    [[nodiscard]] Answer state_answer(bool writes, Answer answer);
    void close(ports::SessionLink::DoneHandler handler);
    void destroyed();
    /// Its accept has another answer by now, so the port itself releases the session.
    void unwanted();

    // Events from the broker. Each runs later, as a task of the loop.
    void send_transfer(MessageRecord& message, std::uint64_t tag);
    void send_settled(std::uint64_t tag, std::optional<Failure> failure, Duration extra);
    void send_drained(Duration extra);
    void send_answer(std::uint64_t operation, std::optional<Failure> failure, Duration extra);
    void send_lost(Failure reason, Duration extra);
    void send_accepted(std::function<void()> arrival, Duration extra);
    /// The connection is lost, with everything on it.
    void cut() noexcept { down_.cut(); }

    [[nodiscard]] LinkRecord& record() noexcept { return *record_; }
    [[nodiscard]] LinkBook& book() noexcept { return book_; }
    [[nodiscard]] const std::optional<Duration>& initial_lock() const noexcept {
        return initial_lock_;
    }
    [[nodiscard]] ports::FirstCredit first_credit() const noexcept { return first_credit_; }
    void set_first_credit(ports::FirstCredit first) noexcept { first_credit_ = first; }
    void set_initial_lock(std::optional<Duration> length) noexcept { initial_lock_ = length; }

private:
    void to_loop(Duration extra, std::function<void()> arrival);
    void on_transfer(MessageRecord& message, std::uint64_t tag);
    void on_settled(std::uint64_t tag, const Failure* failure);
    void on_answer(std::uint64_t operation, const Failure* failure);
    void on_lost(const Failure& reason);
    void fail_settlements(const Failure& reason);
    void fail_operations(const Failure& reason);

    struct Unsettled {
        ports::Delivery* delivery;
        DeliveryRecord* record;
    };

    Environment* environment_;
    SimLoop* loop_;
    LinkRecord* record_;
    LinkBook book_;
    Channel* up_;
    std::shared_ptr<FarLink> far_;
    Channel down_;
    ports::LinkEvents* events_{nullptr};
    std::optional<Duration> initial_lock_{};
    ports::FirstCredit first_credit_{};
    std::map<std::uint64_t, Unsettled> unsettled_{};
    std::map<std::uint64_t, Answer> operations_{};
    std::uint64_t last_operation_{0};
    std::uint64_t close_operation_{0};
};

} // namespace sessionq::simulation
