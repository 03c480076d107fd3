// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <proton/types.h>

#include <proton/event.h>

#include "engine_side.hpp"

namespace sessionq::test {

/// The engine of Qpid Proton-C, told to do and made to tell what ours does.
class ProtonSide final : public EngineSide {
public:
    explicit ProtonSide(const SideOptions& options);
    ~ProtonSide() override;

    void input(std::string_view bytes) override;
    [[nodiscard]] std::string take() override;
    void lose_input() override {}
    void apply(const Operation& operation) override;

private:
    struct OneLink {
        std::string key{};
        int session{0};
        pn_link_t* link{nullptr};
        std::string partial{}; ///< of the message that is arriving
        std::map<std::string, pn_delivery_t*> deliveries{};
        FlowWatch watch{};
        bool is_draining{false};
        bool is_left{false};
        bool is_left_by_peer{false};
    };
    struct OneSession {
        int number{0};
        pn_session_t* session{nullptr};
        bool is_left{false};
    };

    void report_flows() override;
    void push(std::string_view frame);
    void handle_events();
    void handle(pn_event_t* event);
    void on_remote_open();
    void on_remote_close();
    void on_session_open(pn_session_t* session);
    void on_session_close(OneSession& session, const amqp::Condition& condition);
    void on_link_open(pn_link_t* link);
    void on_link_close(OneLink& link, bool closed);
    void on_delivery(pn_delivery_t* delivery);
    void receive(OneLink& link);
    void look_drained(OneLink& link);

    void use(OneLink& link, const Operation& operation);
    void begin(int number, pn_session_t* session);
    OneLink& add_link(const std::string& key, int session, pn_link_t* link);
    void open(OneLink& link, const amqp::Attach& attach);
    void detach(OneLink& link, const amqp::Condition& condition);
    void send(OneLink& link, const Operation& operation);
    void update(OneLink& link, const Operation& operation);
    void bury();
    [[nodiscard]] bool hears(const OneLink* link) const;

    pn_connection_t* const connection_;
    pn_transport_t* const transport_;
    pn_collector_t* const collector_;
    const std::size_t capacity_; // of a session
    std::string input_{};        // not a whole frame yet
    bool header_seen_{false};
    bool is_closing_{false};
    bool is_closed_{false};
    std::map<int, std::unique_ptr<OneSession>> sessions_{};
    std::map<std::string, std::unique_ptr<OneLink>> links_{};
    std::vector<pn_link_t*> dead_links_{};
    std::vector<pn_session_t*> dead_sessions_{};
};

} // namespace sessionq::test
