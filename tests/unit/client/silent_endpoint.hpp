// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "ports/endpoint.hpp"

namespace sessionq::test {

/// Takes requests and answers none.
class SilentEndpoint : public ports::Endpoint {
public:
    SilentEndpoint(core::EventLoop& loop, ports::Capabilities capabilities)
        : loop_{loop}, capabilities_{std::move(capabilities)} {}

    [[nodiscard]] core::EventLoop& loop() noexcept override { return loop_; }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    ports::RequestId accept(ports::AcceptRequest, ports::AcceptHandler) override { return 0; }
    ports::RequestId sending_limit(std::string, Deadline, ports::SendingLimitHandler) override {
        return 0;
    }
    ports::RequestId send(ports::SendRequest, ports::SendHandler) override { return 0; }
    ports::RequestId cancel_scheduled(std::string, std::vector<std::int64_t>, Deadline,
                                      ports::DoneHandler) override {
        return 0;
    }
    ports::RequestId peek(ports::PeekRequest, ports::PeekHandler) override { return 0; }
    ports::RequestId list_sessions(ports::ListSessionsRequest,
                                   ports::ListSessionsHandler) override {
        return 0;
    }
    ports::RequestId delete_messages(ports::DeleteMessagesRequest, ports::DeletedHandler) override {
        return 0;
    }
    ports::RequestId manage_rules(ports::RulesRequest, ports::RulesHandler) override { return 0; }
    void give_up(ports::RequestId id) override { given_up.push_back(id); }

    std::vector<ports::RequestId> given_up{};

private:
    core::EventLoop& loop_;
    const ports::Capabilities capabilities_;
};

/// The requests of one kind, which the test answers one at a time.
template <typename Request, typename Handler>
class AnsweredRequests {
public:
    ports::RequestId ask(Request request, Handler handler) {
        CHECK_FALSE(handler_);
        requests.push_back(std::move(request));
        handler_ = std::move(handler);
        return requests.size();
    }
    template <typename Answer>
    void answer(Answer answer) {
        REQUIRE(handler_);
        std::exchange(handler_, nullptr)(std::move(answer));
    }

    std::vector<Request> requests{};

private:
    Handler handler_{};
};

} // namespace sessionq::test
