// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include <sessionq/local_broker.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/sender.hpp>

#include "client/connecting/broker_host.hpp"
#include "client/connecting/client_core.hpp"
#include "core/access.hpp"
#include "in_process/endpoint.hpp"
#include "support/code_of.hpp"
#include "tools/sessionq/commands.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using ports::Capability;

namespace {

/// The port of a broker that cannot delete messages.
class WithoutDeletion final : public ports::Endpoint {
public:
    explicit WithoutDeletion(ports::EndpointPtr endpoint) : endpoint_{std::move(endpoint)} {}

    [[nodiscard]] core::EventLoop& loop() noexcept override { return endpoint_->loop(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept override { return can_; }
    ports::RequestId accept(ports::AcceptRequest request, ports::AcceptHandler handler) override {
        return endpoint_->accept(std::move(request), std::move(handler));
    }
    void give_up(ports::RequestId id) override { endpoint_->give_up(id); }
    ports::RequestId sending_limit(std::string entity, Deadline deadline,
                                   ports::SendingLimitHandler handler) override {
        return endpoint_->sending_limit(std::move(entity), deadline, std::move(handler));
    }
    ports::RequestId send(ports::SendRequest request, ports::SendHandler handler) override {
        return endpoint_->send(std::move(request), std::move(handler));
    }
    ports::RequestId cancel_scheduled(std::string, std::vector<std::int64_t>, Deadline,
                                      ports::DoneHandler) override {
        return 0;
    }
    ports::RequestId peek(ports::PeekRequest request, ports::PeekHandler handler) override {
        return endpoint_->peek(std::move(request), std::move(handler));
    }
    ports::RequestId list_sessions(ports::ListSessionsRequest,
                                   ports::ListSessionsHandler) override {
        return 0;
    }
    ports::RequestId delete_messages(ports::DeleteMessagesRequest, ports::DeletedHandler) override {
        FAIL("it cannot");
        return 0;
    }
    ports::RequestId manage_rules(ports::RulesRequest, ports::RulesHandler) override { return 0; }

private:
    const ports::Capabilities can_{
        "the old broker",
        {Capability::accept_named, Capability::accept_next, Capability::dead_letter,
         Capability::peek, Capability::receive_and_delete, Capability::plain_entities,
         Capability::dead_letter_sub_queue, Capability::refuse_sessionless}};
    ports::EndpointPtr endpoint_;
};

Client client_without_deletion(const LocalBroker& broker) {
    const auto& host = detail::client::Access::host(broker);
    const std::shared_ptr<broker::Broker> engine{host, &host->broker()};
    return detail::client::Access::make<Client>(std::make_shared<detail::client::ClientCore>(
        ClientOptions{}, [engine](detail::client::ReceiveThread& loop, core::Executor&) {
            return std::make_unique<WithoutDeletion>(
                std::make_unique<in_process::Endpoint>(engine, loop));
        }));
}

struct PurgeFixture {
    PurgeFixture() {
        broker.create_queue("orders");
        broker.create_queue("plain", {.requires_session = false});
        Sender orders{client, "orders"};
        orders.send(Message::of("1").in_session("a"));
        orders.send(Message::of("2").in_session("b"));
        Sender{client, "plain"}.send(Message{.body = "3"});
    }
    int purge(cli::PurgeOptions options) {
        options.wait = 10ms;
        return cli::run(client, {}, options);
    }

    LocalBroker broker{};
    Client client{client_without_deletion(broker)};
};

} // namespace

TEST_CASE("sessionq purge: where the broker cannot delete messages they are received") {
    PurgeFixture f;
    CHECK(f.purge({.entity = "orders", .session = "a"}) == 0);
    CHECK(f.broker.counts("orders").active == 1);
    CHECK(f.purge({.entity = "orders"}) == 0);
    CHECK(f.broker.counts("orders").active == 0);
    CHECK(f.purge({.entity = "plain"}) == 0);
    CHECK(f.broker.counts("plain").active == 0);
}

TEST_CASE("sessionq purge: where the broker cannot delete messages an instant is refused") {
    PurgeFixture f;
    CHECK(test::code_of([&] { f.purge({.entity = "orders", .before = Duration{1h}}); }) ==
          Errc::not_supported);
    CHECK(f.broker.counts("orders").active == 2);
}

TEST_CASE("sessionq purge: with a client that can, messages before an instant are deleted") {
    PurgeFixture f;
    const Client client = Client::in_process(f.broker);
    CHECK(cli::run(client, {}, cli::PurgeOptions{.entity = "orders", .before = Duration{1h}}) == 0);
    CHECK(f.broker.counts("orders").active == 2);
    CHECK(cli::run(client, {}, cli::PurgeOptions{.entity = "orders"}) == 0);
    CHECK(f.broker.counts("orders").active == 0);
}

TEST_CASE("sessionq dead-letters purge: dead letters are received where they cannot be deleted") {
    PurgeFixture f;
    Receiver::open(f.client, "plain").receive_one(1s)->dead_letter();
    CHECK(cli::run(f.client, {}, cli::PurgeDeadLettersOptions{.letters = {.entity = "plain"}}) ==
          0);
    CHECK(f.broker.counts("plain").dead_lettered == 0);
}
