#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/condition.hpp"

namespace sessionq::amqp {

/// One side of the SASL exchange that comes before the AMQP stream (part 5, section 3 of the
/// standard). Pure: bytes in, bytes out.
class SaslExchange {
public:
    virtual ~SaslExchange() = default;

    enum class State { going_on, done, failed };

    /// What this side says first.
    virtual void begin(std::string& output) = 0;
    /// Takes what it understands from the front of `input`, which holds all that arrived and was
    /// not taken; appends answers.
    virtual State feed(std::string_view& input, std::string& output) = 0;
    /// After `failed`.
    [[nodiscard]] const Condition& failure() const noexcept { return failure_; }

protected:
    Condition failure_{};
};

/// How a client presents itself.
struct SaslCredentials {
    enum class Mechanism { anonymous, plain, external, any };
    Mechanism mechanism{
        Mechanism::anonymous}; ///< any: PLAIN if there is a user, else EXTERNAL if
                               ///< `has_certificate`, else ANONYMOUS; of what the peer offers
    std::string user{};
    std::string password{};
    std::string hostname{};
    bool has_certificate{false};
};

[[nodiscard]] std::unique_ptr<SaslExchange> make_sasl_client(SaslCredentials credentials);

/// Says whether this user and password may enter with PLAIN.
using PlainCheck = std::function<bool(std::string_view user, std::string_view password)>;

/// A server that offers what Azure Service Bus offers, in its order, and lets in everybody but a
/// PLAIN that `check` refuses (null: refuses all): rights are claimed later, by tokens.
[[nodiscard]] std::unique_ptr<SaslExchange> make_sasl_server(PlainCheck check);

} // namespace sessionq::amqp
