// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <utility>

#include <sessionq/receiver.hpp>
#include <sessionq/session_receiver.hpp>

#include "client/connecting/client_core.hpp"
#include "core/access.hpp"
#include "support/code_of.hpp"
#include "unit/client/silent_endpoint.hpp"

using namespace sessionq;
using ports::Capability;

namespace {

/// Has no session and no entity for anybody.
class EmptyEndpoint final : public test::SilentEndpoint {
public:
    using SilentEndpoint::SilentEndpoint;

    ports::RequestId accept(ports::AcceptRequest, ports::AcceptHandler handler) override {
        loop().post(
            [handler = std::move(handler)] { handler(Failure{.code = Errc::session_not_found}); });
        return 1;
    }
};

/// What opening answers, with a broker that can do only this.
Errc opened(const ports::Capabilities& can, const std::function<void(const Client&)>& open) {
    const Client client =
        detail::client::Access::make<Client>(std::make_shared<detail::client::ClientCore>(
            ClientOptions{}, [can](detail::client::ReceiveThread& loop, core::Executor&) {
                return std::make_unique<EmptyEndpoint>(loop, can);
            }));
    return test::code_of([&] { open(client); });
}

void accept_ada(const Client& client) { (void)SessionReceiver::accept(client, "orders", "ada"); }
void accept_any(const Client& client) { (void)SessionReceiver::accept_next(client, "orders"); }
void open_orders(const Client& client) { (void)Receiver::open(client, "orders"); }

} // namespace

TEST_CASE("opening a receiver needs what the broker must be able to do, and no more") {
    constexpr Errc was_asked = Errc::session_not_found;
    CHECK(opened({"some", {Capability::accept_named}}, accept_ada) == was_asked);
    CHECK(opened({"some", {Capability::accept_next}}, accept_ada) == Errc::not_supported);
    CHECK(opened({"some", {Capability::accept_next}}, accept_any) == was_asked);
    CHECK(opened({"some", {Capability::accept_named}}, accept_any) == Errc::not_supported);
    CHECK(opened({"some", {Capability::plain_entities}}, open_orders) == was_asked);
    CHECK(opened({"some", {Capability::accept_named, Capability::accept_next}}, open_orders) ==
          Errc::not_supported);
}

TEST_CASE("receive_and_delete needs a broker that can do it") {
    const auto accept_removing = [](const Client& client) {
        (void)SessionReceiver::accept(client, "orders", "ada", {.receive_and_delete = true});
    };
    CHECK(opened({"some", {Capability::accept_named}}, accept_removing) == Errc::not_supported);
    CHECK(opened({"some", {Capability::accept_named, Capability::receive_and_delete}},
                 accept_removing) == Errc::session_not_found);
}
