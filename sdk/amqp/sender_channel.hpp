#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "amqp/request_queue.hpp"

namespace sessionq::amqp {

/// What distinguishes the sender channels of the dialects.
struct SenderTerms {
    std::string entity{};
    bool batches{false}; ///< Several messages of a send travel as one batch, so all or none.
    Failure (*explain)(const Condition& condition, std::string what){nullptr};
};

/// The messages of one send.
struct Sending {
    std::vector<std::string> encoded{}; ///< one: a message, or a batch
    std::uint32_t format{0};
    std::size_t sent{0};
    std::size_t answered{0};
    std::optional<Failure> failure{};
};

/// Sends messages to one entity over a sender link and reports the outcome of each send once.
class SenderChannel final : public RequestQueue<Sending, core::Done> {
public:
    using SendId = Id;

    SenderChannel(core::EventLoop& loop, SenderTerms terms, WhenReady when_ready);

    /// `id` rises from call to call; `encoded` holds at least one message.
    void send(SendId id, std::vector<std::string> encoded, Deadline deadline, Handler handler);

private:
    [[nodiscard]] bool open_links() override;
    void transmit() override;
    void on_disposition(DeliveryHandle delivery) override;

    void transmit_one(Pending& pending);
    void end_if_answered(Requests::iterator found);

    const SenderTerms sender_terms_;
};

} // namespace sessionq::amqp
