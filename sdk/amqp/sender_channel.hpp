// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "amqp/request_queue.hpp"

namespace sessionq::amqp {

/// The terms in which the sender channels of the dialects differ.
struct SenderTerms {
    std::string entity{};
    /// Several messages of a send travel as one batch of Azure Service Bus, so all or none.
    bool batches{false};
    Failure (*explain)(const Condition& condition, std::string what){nullptr};
};

/// The messages of one send.
struct Sending {
    std::vector<std::string> encoded{}; ///< one: a message, or a batch; none: only asks the limit
    std::size_t size{0};                ///< as one batch
    bool is_alone{false};               ///< it was one message
    std::uint32_t format{0};
    std::size_t sent{0};
    std::size_t answered{0};
    std::optional<Failure> failure{};
};

/// The most bytes that the peer takes. Zero: it named no limit.
struct SizeLimits {
    std::uint64_t message{0};
    std::uint64_t together{0}; ///< of several messages in one send
};

/// Sends messages to one entity over a sender link and reports the outcome of each send once.
/// Messages of one send that exceed the peer's limit together are refused before any of them is
/// sent.
class SenderChannel final : public RequestQueue<Sending, SizeLimits> {
public:
    using SendId = Id;

    SenderChannel(core::EventLoop& loop, SenderTerms terms, WhenReady when_ready);

    /// `id` rises from call to call; `encoded` holds at least one message.
    void send(SendId id, std::vector<std::string> encoded, Deadline deadline, Handler handler);
    /// Answers as soon as the link is open.
    void ask_limits(SendId id, Deadline deadline, Handler handler);

private:
    [[nodiscard]] bool open_links() override;
    void transmit() override;
    void on_link_open() override;
    void on_disposition(DeliveryHandle delivery) override;

    void answer_questions();
    [[nodiscard]] bool refuse_too_large(Requests::iterator found);
    void transmit_one(Pending& pending);
    void end_if_answered(Requests::iterator found);

    const SenderTerms sender_terms_;
    std::vector<SendId> questions_{}; // that were not answered when last looked at
    SizeLimits limits_{};             // of the link, once it is open
};

} // namespace sessionq::amqp
