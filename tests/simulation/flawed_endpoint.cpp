// SPDX-License-Identifier: MIT
#include "simulation/flawed_endpoint.hpp"

#include <algorithm>
#include <memory>

#include "simulation/records.hpp"

namespace sessionq::simulation {

ports::RequestId FlawedEndpoint::accept(ports::AcceptRequest request,
                                        ports::AcceptHandler handler) {
    return endpoint_->accept(std::move(request), [defect = defect_, unwritten = unwritten_,
                                                  handler = std::move(handler)](
                                                     core::Result<ports::SessionLinkPtr> answer) {
        handler(answer ? ports::SessionLinkPtr{std::make_unique<FlawedLink>(
                             defect, unwritten, std::move(answer).value())}
                       : std::move(answer));
    });
}

ports::RequestId FlawedEndpoint::send(ports::SendRequest request, ports::SendHandler handler) {
    using Numbers = core::Result<std::vector<std::int64_t>>;
    const std::size_t count = request.size();
    switch (defect_) {
    case SeamDefect::confirms_lost_send:
        handler = [count, handler = std::move(handler)](Numbers answer) {
            handler(!answer && answer.failure().outcome_unknown
                        ? Numbers{std::vector<std::int64_t>(count)}
                        : std::move(answer));
        };
        break;
    case SeamDefect::refuses_taken_send:
        handler = [handler = std::move(handler)](Numbers answer) {
            handler(!answer && answer.failure().outcome_unknown
                        ? Numbers{Failure{.code = Errc::server_busy}}
                        : std::move(answer));
        };
        break;
    case SeamDefect::sends_twice: endpoint_->send(request, [](const Numbers&) {}); break;
    case SeamDefect::loses_of_batch:
        if (count > 1) {
            request.contents.empty() ? request.messages.pop_back() : request.contents.pop_back();
        }
        break;
    case SeamDefect::splits_batch: return send_one_by_one(std::move(request), std::move(handler));
    case SeamDefect::reverses_batch:
        std::ranges::reverse(request.messages);
        std::ranges::reverse(request.contents);
        break;
    case SeamDefect::schedules_at_once:
        for (Message& message : request.messages) {
            message.scheduled_enqueue_time.reset();
        }
        break;
    default: break;
    }
    return endpoint_->send(std::move(request), std::move(handler));
}

/// The first failure, or the last answer, is the answer.
ports::RequestId FlawedEndpoint::send_one_by_one(ports::SendRequest request,
                                                 ports::SendHandler handler) {
    if (request.size() < 2) {
        return endpoint_->send(std::move(request), std::move(handler));
    }
    ports::SendRequest first{.entity = request.entity, .deadline = request.deadline};
    const auto move_first = [](auto& from, auto& to) {
        if (!from.empty()) {
            to.push_back(std::move(from.front()));
            from.erase(from.begin());
        }
    };
    move_first(request.messages, first.messages);
    move_first(request.contents, first.contents);
    return endpoint_->send(std::move(first), [this, request = std::move(request),
                                              handler = std::move(handler)](auto answer) {
        if (!answer) {
            handler(std::move(answer));
        } else {
            send_one_by_one(request, handler);
        }
    });
}

} // namespace sessionq::simulation
