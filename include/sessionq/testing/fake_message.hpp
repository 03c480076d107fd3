// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <sessionq/batch_handler.hpp>
#include <sessionq/error.hpp>
#include <sessionq/message.hpp>
#include <sessionq/message_context.hpp>
#include <sessionq/message_handler.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/testing/fake_session.hpp>
#include <sessionq/testing/settlement.hpp>

namespace sessionq::detail::client {
struct Access;
class TestMessage;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

namespace testing {

/// A message without a broker, for the unit test of its handler.
///
/// Example:
///
///     const auto handle = [](MessageContext& context) {
///         if (context.message().text().empty()) {
///             context.dead_letter("Empty");
///         }
///     };
///     testing::FakeSession session{{.session_id = "ada"}};
///     testing::FakeMessage message{session, Message::of("").in_session("ada")};
///     message.run(handle);
///     const auto settlement = message.settlement();
///     if (!settlement || settlement->reason != "Empty" ||
///         settlement->decided_by != testing::Settlement::Decider::handler) {
///         std::abort();
///     }
///
/// It tells how the message is settled: by the handler, or by a processor once the handler has
/// returned or thrown. It waits for no delay of a failure policy, and asks no `on_failure`.
///
/// A message is for one run, as a delivery is. For the next delivery make another one, with a
/// higher `DeliveryFacts::delivery_count` or `attempt`.
///
/// Lifetimes: keeps its session alive. The context is valid while the message exists.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving and destroying.
class FakeMessage {
public:
    /// Makes a message of the session. A message without a session id gets the session's. Without a
    /// sequence number it gets the session's next one. `attempt`: the value of
    /// `MessageContext::attempt`, which is the number of this try under this lock. Default 1.
    /// Errors: invalid_argument (the message is of another session).
    FakeMessage(FakeSession& session, Message message, DeliveryFacts facts = {},
                std::uint32_t attempt = 1);
    ~FakeMessage();
    FakeMessage(FakeMessage&&) noexcept;
    FakeMessage& operator=(FakeMessage&&) noexcept;

    /// The handler's argument.
    [[nodiscard]] MessageContext& context();
    [[nodiscard]] const ReceivedMessage& message() const;

    /// Calls the handler as a processor does: with the message's deadline, trace and stop token as
    /// its ambient context. It waits until the handler has finished, and throws the exception that
    /// the handler throws. A handler made by `coroutine` runs on this thread. After that,
    /// `settlement` tells what a processor does.
    void run(const MessageHandler& handler);

    /// Calls a handler of batches with these messages, as a processor does. Its ambient context has
    /// the earliest deadline of the messages. It waits until the handler has finished, and throws
    /// the exception that the handler throws. After that, `settlement` of each message tells what a
    /// processor does.
    /// Errors: invalid_argument (no message, or messages of several sessions).
    ///
    /// Example:
    ///
    ///     testing::FakeSession session{{.session_id = "ada"}};
    ///     std::vector<testing::FakeMessage> batch;
    ///     batch.emplace_back(session, Message::of("1").in_session("ada"));
    ///     batch.emplace_back(session, Message::of("2").in_session("ada"));
    ///     testing::FakeMessage::run_batch(batch, [](std::span<MessageContext> messages) {
    ///         messages.front().dead_letter("Bad");
    ///     });
    ///     if (batch[0].settlement()->reason != "Bad" ||
    ///         batch[1].settlement()->outcome != testing::Settlement::Outcome::completed) {
    ///         std::abort();
    ///     }
    static void run_batch(std::span<FakeMessage> batch, const BatchHandler& handler);

    /// How the message is settled. `Settlement::decided_by` tells whether the handler decided that.
    /// If it did not, the outcome is a processor's when the handler has ended:
    /// - The handler returned: completed. With `FakeSessionOptions::auto_complete` off it has
    ///   failed, as if it had thrown.
    /// - The handler threw: `FakeSessionOptions::failure_policy` decides. To dead-letter is
    ///   dead_lettered, everything else ends as abandoned.
    ///
    /// Unset:
    /// - No handler has run, and nothing has settled the message.
    /// - The failure policy tries the message again in place, because `attempt` is less than
    ///   `FailurePolicy::max_attempts`.
    /// - The message returns to its session uncounted: in a batch, it is behind the one that
    /// failed.
    /// - Nothing is settled: with `receive_and_delete`, or because the lock is lost.
    [[nodiscard]] std::optional<Settlement> settlement() const;

    /// The failure that the handler stated by `MessageContext::fail`, the first of them. Unset: it
    /// stated none. `run` does not throw it.
    [[nodiscard]] std::optional<Failure> failure() const;

private:
    friend struct detail::client::Access;

    std::unique_ptr<detail::client::TestMessage> message_;
};

} // namespace testing
} // namespace sessionq::inline v1
