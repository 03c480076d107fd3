// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "amqp/tls.hpp"
#include "contract/real_time_fixture.hpp"
#include "core/uuid.hpp"
#include "groups/endpoint.hpp"

namespace sessionq::test {

/// A broker with message groups that is already running. The environment names it:
/// SESSIONQ_BROKER_URL, SESSIONQ_BROKER_TLS_URL, SESSIONQ_BROKER_CA. Its queues are created at
/// first use.
class GroupsFixture : public RealTimeFixture {
public:
    /// `plain`: the queues that deal messages without a group one by one.
    GroupsFixture(std::string queues, std::string plain, bool tls, bool next_only)
        : queues_{std::move(queues)}, plain_{std::move(plain)}, tls_{tls}, next_only_{next_only} {}
    ~GroupsFixture() override { quiet(); }

    std::string create_entity(const EntitySpec& spec) override {
        return (spec.requires_session ? queues_ : plain_) + ".d" +
               std::to_string(spec.max_delivery_count) + "." + core::Uuid::make().to_string();
    }
    [[nodiscard]] bool accepts_next_only() const override { return next_only_; }
    [[nodiscard]] bool tells_sequence_numbers() const override { return false; }
    [[nodiscard]] std::string dead_letters_of(const std::string&) const override { return "dead"; }

    /// Connects first, because the broker's capabilities are unknown before.
    [[nodiscard]] std::unique_ptr<ports::Endpoint> make_endpoint() override {
        groups::EndpointSettings settings{
            .url = groups::ConnectionUrl::parse(
                       environment(tls_ ? "SESSIONQ_BROKER_TLS_URL" : "SESSIONQ_BROKER_URL"))
                       .value()};
        if (tls_) {
            settings.tls = amqp::make_tls(amqp::TlsClientSettings{
                                              .ca_file = environment("SESSIONQ_BROKER_CA")})
                               .value();
        }
        auto endpoint = std::make_unique<groups::Endpoint>(loop(), io(), std::move(settings));
        std::string outcome;
        endpoint->connect([&](const core::Result<core::Done>& result) {
            outcome = result.ok() ? "connected" : result.failure().to_string();
        });
        static_cast<void>(eventually([&] { return !outcome.empty(); }));
        REQUIRE(outcome == "connected");
        return endpoint;
    }

private:
    static std::string environment(const char* name) {
        const char* value = std::getenv(name);
        if (value == nullptr) {
            throw std::runtime_error{std::string{name} + " is not set; tests/interop/run sets it"};
        }
        return value;
    }

    const std::string queues_;
    const std::string plain_;
    const bool tls_;
    const bool next_only_;
};

/// Each session has a link of its own.
struct ArtemisByIdFixture final : GroupsFixture {
    ArtemisByIdFixture() : GroupsFixture{"t", "t", false, false} {}
};
/// Sessions share one link in the order of arrival, over TLS.
struct ArtemisSharedLinkFixture final : GroupsFixture {
    ArtemisSharedLinkFixture() : GroupsFixture{"t", "t", true, true} {}
};
/// A group stays with its consumer.
struct BrokerJPinnedFixture final : GroupsFixture {
    BrokerJPinnedFixture() : GroupsFixture{"standard", "standard", false, true} {}
};
/// A group stays while it has unsettled messages; over TLS. Messages without a group are one group
/// there.
struct BrokerJSharedFixture final : GroupsFixture {
    BrokerJSharedFixture() : GroupsFixture{"shared", "standard", true, true} {}
};

} // namespace sessionq::test
