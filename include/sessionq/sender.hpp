#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sessionq/client.hpp>
#include <sessionq/message.hpp>
#include <sessionq/operation_context.hpp>

namespace sessionq {

namespace client {
class SenderCore;
}

/// Sends messages to one entity, a queue or a topic. A shared handle: cheap to copy, keeps its
/// client alive.
///
/// Every call blocks until the broker has answered, at most until the deadline in scope or, without
/// one, for `ClientOptions::operation_timeout`. A call that ends with `timeout`, `cancelled` or
/// `connection_lost` may have been carried out all the same: the answer is what is missing. To
/// repeat it safely, keep the message ids and let the entity detect duplicates.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for assignment. Messages of one thread keep their order; those of
/// several have none.
class Sender {
public:
    /// Errors: invalid_argument (`entity` has 1 to 260 characters). Whether the entity exists shows
    /// with the first call.
    Sender(const Client& client, std::string entity);

    [[nodiscard]] const std::string& entity() const noexcept;

    /// Sends one message.
    /// Errors: the broker's (see `Errc`), message_too_large. A field of the message that cannot be
    /// is invalid_argument, by its name, before anything is sent.
    void send(Message message, const OperationContext& context = OperationContext::current());

    /// Sends all of them, in order, or none; together they count as one message for what the entity
    /// takes. None to send: returns at once. Errors: as above.
    void send(std::vector<Message> messages,
              const OperationContext& context = OperationContext::current());

    /// Sends now what becomes available at `when`; returns the sequence number, which cancels it,
    /// or 0 where the broker tells none and cannot cancel. A past instant: available at once.
    /// Errors: as for `send`; not_supported where the broker cannot schedule.
    std::int64_t schedule(Message message, WallTime when,
                          const OperationContext& context = OperationContext::current());

    /// The same for several, all or none; the sequence numbers are in the order of the messages.
    /// None to send: returns at once.
    std::vector<std::int64_t> schedule(
        std::vector<Message> messages, WallTime when,
        const OperationContext& context = OperationContext::current());

    /// Takes scheduled messages back before their time, all or none.
    /// None to take back: returns at once. Errors: the broker's (see `Errc`), message_not_found
    /// (one is due already, or unknown); not_supported where the broker cannot take one back.
    void cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                          const OperationContext& context = OperationContext::current());

    /// For sessionq's own parts.
    [[nodiscard]] client::SenderCore& core() const noexcept { return *core_; }

private:
    std::shared_ptr<client::SenderCore> core_;
};

} // namespace sessionq
