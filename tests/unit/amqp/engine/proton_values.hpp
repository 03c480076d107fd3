// SPDX-License-Identifier: MIT
#pragma once

// Between Proton's types and ours.

#include <algorithm>
#include <string>

#include <proton/codec.h>
#include <proton/condition.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/terminus.h>

#include "amqp/engine/attach.hpp"
#include "amqp/engine/outcome.hpp"

namespace sessionq::test::proton {

inline std::string encoded(pn_data_t* data) {
    const ssize_t size = data != nullptr ? pn_data_encoded_size(data) : 0;
    std::string bytes(static_cast<std::size_t>(std::max<ssize_t>(size, 0)), '\0');
    const ssize_t written = bytes.empty() ? 0 : pn_data_encode(data, bytes.data(), bytes.size());
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    return bytes;
}

inline void set(pn_data_t* data, const std::string& bytes) {
    pn_data_clear(data);
    if (!bytes.empty()) {
        pn_data_decode(data, bytes.data(), bytes.size());
    }
}

inline std::string text(const char* held) { return held != nullptr ? held : ""; }

inline amqp::Condition read(pn_condition_t* condition) {
    if (!pn_condition_is_set(condition)) {
        return {};
    }
    return {.name = text(pn_condition_get_name(condition)),
            .text = text(pn_condition_get_description(condition)),
            .info = encoded(pn_condition_info(condition))};
}

inline void set(pn_condition_t* condition, const amqp::Condition& to) {
    pn_condition_clear(condition);
    if (!to.empty()) {
        pn_condition_set_name(condition, to.name.c_str());
        pn_condition_set_description(condition, to.text.c_str());
        set(pn_condition_info(condition), to.info);
    }
}

inline amqp::Terminus read(pn_terminus_t* terminus) {
    return {.present = pn_terminus_get_type(terminus) != PN_UNSPECIFIED,
            .dynamic = pn_terminus_is_dynamic(terminus),
            .address = text(pn_terminus_get_address(terminus)),
            .filter = encoded(pn_terminus_filter(terminus)),
            .properties = encoded(pn_terminus_properties(terminus))};
}

inline void set(pn_terminus_t* terminus, const amqp::Terminus& to, pn_terminus_type_t type) {
    pn_terminus_set_type(terminus, to.present ? type : PN_UNSPECIFIED);
    pn_terminus_set_address(terminus, to.address.empty() ? nullptr : to.address.c_str());
    pn_terminus_set_dynamic(terminus, to.dynamic);
    set(pn_terminus_filter(terminus), to.filter);
    set(pn_terminus_properties(terminus), to.properties);
}

inline amqp::Attach read(pn_link_t* link) {
    amqp::Attach attach;
    attach.source = read(pn_link_remote_source(link));
    attach.target = read(pn_link_remote_target(link));
    attach.sender_mode = static_cast<amqp::SenderSettleMode>(pn_link_remote_snd_settle_mode(link));
    attach.receiver_mode =
        static_cast<amqp::ReceiverSettleMode>(pn_link_remote_rcv_settle_mode(link));
    attach.properties = encoded(pn_link_remote_properties(link));
    attach.max_message_size = pn_link_remote_max_message_size(link);
    return attach;
}

inline amqp::Outcome read(pn_delivery_t* delivery) {
    amqp::Outcome outcome{.kind =
                              static_cast<amqp::OutcomeKind>(pn_delivery_remote_state(delivery))};
    pn_disposition_t* const remote = pn_delivery_remote(delivery);
    if (outcome.kind == amqp::OutcomeKind::rejected) {
        outcome.error = read(pn_disposition_condition(remote));
    } else if (outcome.kind == amqp::OutcomeKind::modified) {
        outcome.delivery_failed = pn_disposition_is_failed(remote);
        outcome.undeliverable_here = pn_disposition_is_undeliverable(remote);
        outcome.annotations = encoded(pn_disposition_annotations(remote));
    }
    return outcome;
}

inline std::string tag_of(pn_delivery_t* delivery) {
    const pn_delivery_tag_t tag = pn_delivery_tag(delivery);
    return {tag.start, tag.size};
}

} // namespace sessionq::test::proton
