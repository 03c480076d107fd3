// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/condition.hpp"

namespace sessionq::amqp {

/// One side of the SASL exchange that precedes the AMQP stream (AMQP 1.0 part 5, section 3). Pure:
/// bytes in, bytes out.
class SaslExchange {
public:
    virtual ~SaslExchange() = default;

    enum class State { going_on, done, failed };

    /// Appends this side's first bytes.
    virtual void begin(std::string& output) = 0;
    /// Consumes complete frames from the front of `input` and appends answers to `output`. `input`
    /// holds all bytes that arrived and were not consumed.
    virtual State feed(std::string_view& input, std::string& output) = 0;
    /// Valid after `failed`.
    [[nodiscard]] const Condition& failure() const noexcept { return failure_; }

protected:
    Condition failure_{};
};

/// The credentials of a client.
struct SaslCredentials {
    enum class Mechanism { anonymous, plain, external, any };
    /// `any` uses PLAIN with a user, else EXTERNAL with a certificate, else ANONYMOUS, if the peer
    /// offers it.
    Mechanism mechanism{Mechanism::anonymous};
    std::string user{};
    std::string password{};
    std::string hostname{};
    bool has_certificate{false};
};

[[nodiscard]] std::unique_ptr<SaslExchange> make_sasl_client(SaslCredentials credentials);

/// Returns true if PLAIN may log in with this user and password.
using PlainCheck = std::function<bool(std::string_view user, std::string_view password)>;

/// A server that offers the mechanisms of Azure Service Bus, in its order. It rejects unknown
/// mechanisms, and PLAIN logins that `check` rejects. A null `check` rejects every PLAIN login.
/// Clients get rights later, by tokens.
[[nodiscard]] std::unique_ptr<SaslExchange> make_sasl_server(PlainCheck check);

} // namespace sessionq::amqp
