// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/redrive/redrive_machine.hpp"
#include "client/redrive/redrive_route.hpp"
#include "ports/endpoint.hpp"
#include "simulation/redriving_link.hpp"

namespace sessionq::simulation {

/// A call of `redrive` in virtual time: performs what the product's machine decides, with requests
/// of the product's port. `detail::client::RedriveRun` does the same for callers who can wait. On
/// the endpoint's loop.
class RedrivingClient {
public:
    struct Terms {
        std::string entity{};
        RedriveOptions options{};
        std::size_t fit{100};               ///< copies that fit into one send
        std::function<bool()> dies{};       ///< before a step: true if its process is killed there
        std::function<Duration()> pauses{}; ///< before a step, and renews no session's lock then
    };
    /// `told` runs once, unless the call is destroyed before.
    RedrivingClient(Environment& environment, Terms terms, ports::EndpointPtr endpoint,
                    std::function<void()> told);
    ~RedrivingClient();
    RedrivingClient(const RedrivingClient&) = delete;
    RedrivingClient& operator=(const RedrivingClient&) = delete;

    void begin() { plan(0); }

private:
    using Machine = detail::client::RedriveMachine;

    void plan(std::int64_t from);
    void planned(const std::vector<ReceivedMessage>& letters);
    void next();
    void step();
    void perform(const Machine::Receive& step);
    void perform(const Machine::Hold& step);
    void perform(const Machine::Look& step);
    void perform(const Machine::Send& step);
    void perform(const Machine::Complete& step);
    void perform(const Machine::Leave& step);
    void perform(const Machine::Finish& step);

    void receive(Duration wait);
    [[nodiscard]] std::unique_ptr<RedrivingLink> make_link(ports::SessionLinkPtr link);
    void take();
    void look(const Machine::SessionId& session, std::int64_t from);
    void completed(std::int64_t number, const Failure* failure);
    void fail(const Failure& why);
    void over();
    void forget_hold();

    [[nodiscard]] LetterRecord& letter(std::int64_t number);
    [[nodiscard]] TimePoint now() const { return environment_->scheduler.now(); }
    [[nodiscard]] Deadline deadline() const { return Deadline::after(seconds{15}, now()); }
    /// Ignores answers that come when the call is over or destroyed.
    template <typename T, typename Then>
    std::function<void(core::Result<T>)> answer(Then then);
    void later(Duration after, std::function<void()> what);

    Environment* environment_;
    Terms terms_;
    detail::client::RedriveRoute route_;
    Machine machine_;
    ports::EndpointPtr endpoint_;
    std::function<void()> told_;
    std::unique_ptr<RedrivingLink> receiver_{};
    std::unique_ptr<RedrivingLink> held_{};
    std::map<std::int64_t, ports::Delivery*> hand_{};
    std::map<std::int64_t, bool> completing_{};
    std::optional<Failure> failed_{};
    TimePoint paused_until_{};
    std::uint64_t waits_{0}; ///< numbers the waits for dead letters
    bool is_waiting_{false};
    bool is_over_{false};
    std::shared_ptr<bool> here_{std::make_shared<bool>(true)}; ///< false once destroyed
};

} // namespace sessionq::simulation
