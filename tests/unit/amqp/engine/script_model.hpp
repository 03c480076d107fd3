// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "amqp/engine/attach.hpp"

namespace sessionq::test {

// What the writer of a script knows of sessions, links and deliveries: what each side may do next.
// Pairs are the client's and the server's.

struct ModelDelivery {
    std::string tag{};
    bool waits{false}; // for credit
    bool has_arrived{false};
    bool is_known{false}; // to its receiver, who keeps what arrives unsettled
    bool settled_by_sender{false};
    bool settled_by_receiver{false};
    bool settled_by_sender_before{false}; // this step, so that the receiver knows
    bool settled_by_receiver_before{false};
    std::array<bool, 2> touched{}; // in this step: engines differ in what they say at once
};

struct ModelLink {
    std::string key{};
    int session{0};
    bool by_server{false};
    bool is_answered{false};
    amqp::SenderSettleMode sender_mode{};
    amqp::ReceiverSettleMode receiver_mode{};
    std::array<bool, 2> left{};
    std::array<bool, 2> left_before{};
    int credit{0}; // both agree when all is quiet
    int waiting{0};
    int added{0};
    int given_back{0};
    bool sends{false}; // in this step
    bool drain_asked{false};
    bool drain_said{false}; // the flag of the last flow
    bool drain_seen{false};
    std::vector<ModelDelivery> deliveries{};

    [[nodiscard]] bool server_sends() const { return key.back() == '<'; }

    /// Everything that was said has arrived.
    void become_quiet() {
        left_before = left;
        drain_seen = drain_said;
        sends = false;
        credit += std::exchange(added, 0) - std::exchange(given_back, 0);
        if (is_answered) {
            for (ModelDelivery& each : deliveries) {
                if (each.waits && credit > 0) {
                    each.waits = false;
                    each.has_arrived = true;
                    each.is_known = !each.settled_by_sender;
                    --credit;
                    --waiting;
                }
            }
        }
        drain_asked = drain_asked && credit != 0;
        std::erase_if(deliveries, [](const ModelDelivery& each) {
            return each.has_arrived && each.settled_by_sender &&
                   (each.settled_by_receiver || !each.is_known);
        });
        for (ModelDelivery& each : deliveries) {
            each.touched = {};
            each.settled_by_sender_before = each.settled_by_sender;
            each.settled_by_receiver_before = each.settled_by_receiver;
        }
    }
};

struct ModelSession {
    std::array<bool, 2> knows{};
    std::array<bool, 2> ended{};
    bool is_new{true};
    bool moves{false};  // messages, in this step
    bool leaves{false}; // a link, in this step
};

} // namespace sessionq::test
