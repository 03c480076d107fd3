// How a message is forwarded between entities. Its way within an entity is in entity.cpp.
#include "broker/entity.hpp"

#include <utility>

namespace sessionq::broker {

std::optional<Failure> Entity::find_send_fault() const {
    if (is_dead_letter_queue()) {
        return failure(Errc::not_supported, "a dead-letter sub-queue cannot be sent to");
    }
    if (kind_ == EntityKind::subscription) {
        return failure(Errc::not_supported, "a subscription cannot be sent to; send to its topic");
    }
    return std::nullopt;
}

std::optional<Failure> Entity::take(Arrival arrival) {
    if (is_shut_down_) {
        return failure(Errc::entity_not_found, "the entity was deleted");
    }
    const std::optional<Origin> origin = arrival.origin;
    auto fault = find_fault(*arrival.content);
    if (!fault && options_.max_size_bytes != 0 &&
        store_.bytes() + arrival.content->bytes() > options_.max_size_bytes) {
        fault = failure(Errc::quota_exceeded,
                        "max_size_bytes is " + std::to_string(options_.max_size_bytes));
    }
    if (fault && kind_ != EntityKind::subscription) {
        return fault;
    }
    if (fault) {
        dead_letters_->take_dead_letter(std::move(arrival.content), 0,
                                        describe_transit_failure(*fault));
    } else {
        enqueue(std::move(arrival));
    }
    if (origin) {
        note_origin(*origin);
    }
    return std::nullopt;
}

void Entity::forward(StoredMessage& message) {
    Arrival leaving{.content = message.content,
                    .time_to_live = message.time_to_live,
                    .hops = message.hops,
                    .origin = Origin{.entity = id_,
                                     .sequence = message.sequence,
                                     .is_shared = kind_ == EntityKind::topic}};
    if (message.dead_letter) {
        leaving.content = leaving.content->with_properties(
            {{"DeadLetterReason", message.dead_letter->reason},
             {"DeadLetterErrorDescription", message.dead_letter->description}});
    }
    context_.transits().push_back(
        {.from = this, .sequence = message.sequence, .message = std::move(leaving)});
}

void Entity::end_transit(std::int64_t sequence, const std::optional<DeadLetterInfo>& failed_with) {
    StoredMessage* message = store_.find(sequence);
    if (message == nullptr) {
        return;
    }
    if (!failed_with && kind_ == EntityKind::topic) {
        remove(*message);
    } else if (!failed_with) {
        drop(*message); // the destination has recorded the removal here
    } else if (is_dead_letter_queue()) {
        add_to_available(*message);
    } else {
        dead_letter(*message, *failed_with);
    }
}

} // namespace sessionq::broker
