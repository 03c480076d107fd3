// SPDX-License-Identifier: MIT
#include "servicebus/locked_messages.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/lock_token.hpp"
#include "servicebus/session_codec.hpp"

namespace sessionq::detail::servicebus {

LockedMessages::~LockedMessages() { release_unsettled(); }

void LockedMessages::close(DoneHandler handler) {
    release_unsettled();
    LockedSession::close(std::move(handler));
}

/// A detached link leaves its messages locked at the service. Released, they are available at once
/// and uncounted. Those whose settlement is under way are left alone.
void LockedMessages::release_unsettled() {
    if (!may_use()) {
        return;
    }
    std::vector<std::uint64_t> decided = settlements_.tags();
    std::ranges::sort(decided);
    for (amqp::DeliveryHandle each : link_->link().unsettled()) {
        if (!std::ranges::binary_search(decided, tag_of(each))) {
            each.settle({.kind = amqp::OutcomeKind::released});
        }
    }
}

ports::RequestId LockedMessages::renew(std::vector<std::uint64_t> tags, Deadline deadline,
                                       Handler handler) {
    Tokens tokens;
    tokens.reserve(tags.size());
    for (const std::uint64_t tag : tags) {
        const auto deferred = deferred_.find(tag);
        tokens.push_back(deferred ? *deferred
                                  : amqp::token_of(handle_of(tag).tag()).value_or(core::Uuid{}));
    }
    return ask_renewal(tokens, deadline,
                       [this, tokens, deadline,
                        handler = std::move(handler)](core::Result<Grants> answer) mutable {
                           if (answer) {
                               handler(std::move(answer).value());
                           } else if (answer.failure().code == Errc::lock_lost &&
                                      tokens.size() > 1) {
                               renew_singly(tokens, deadline, std::move(handler));
                           } else {
                               handler(Grants(tokens.size(), answer.failure()));
                           }
                       });
}

/// One lost lock fails the whole request, and the broker does not say which.
void LockedMessages::renew_singly(const Tokens& tokens, Deadline deadline, Handler handler) {
    struct Gathered {
        Grants grants;
        std::size_t left;
        Handler handler;
    };
    const auto all = std::make_shared<Gathered>(
        Gathered{.grants = Grants(tokens.size(), Failure{.code = Errc::lock_lost}),
                 .left = tokens.size(),
                 .handler = std::move(handler)});
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        ask_renewal({tokens[at]}, deadline, [all, at](core::Result<Grants> answer) {
            all->grants[at] =
                answer ? answer.value().front() : core::Result<ports::LockGrant>{answer.failure()};
            if (--all->left == 0) {
                all->handler(std::move(all->grants));
            }
        });
    }
}

ports::RequestId LockedMessages::ask_renewal(const Tokens& tokens, Deadline deadline,
                                             std::function<void(core::Result<Grants>)> handler) {
    return ask(
        "com.microsoft:renew-lock", to_renewal(tokens), deadline,
        reading(std::move(handler),
                [this, asked = loop_.now(),
                 count = tokens.size()](const Response& response) -> core::Result<Grants> {
                    const auto ends = read_expirations(response, count);
                    if (!ends) {
                        return ends.failure();
                    }
                    BrokerConnection& connection = link_->connection();
                    Grants grants;
                    for (const WallTime end : ends.value()) {
                        grants.emplace_back(ports::LockGrant{
                            .length = connection.locks().length(end, asked, connection.reading())});
                    }
                    return grants;
                }));
}

} // namespace sessionq::detail::servicebus
