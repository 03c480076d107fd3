#include "broker/store/store_reader.hpp"

#include <map>
#include <sstream>
#include <utility>

#include "broker/store/options_text.hpp"
#include "broker/store/wall_nanoseconds.hpp"

namespace sessionq::broker {
namespace {

/// Reads numbers, each followed by a space.
std::vector<EntityId> read_ids(const std::string& text) {
    std::vector<EntityId> ids;
    std::istringstream words{text};
    for (EntityId id = 0; words >> id;) {
        ids.push_back(id);
    }
    return ids;
}

class StoreReader {
public:
    StoreReader(Database& database, const ContentCodec& codec, WallTime at)
        : database_{database}, codec_{codec}, at_{at} {}

    core::Result<std::vector<DurableQueue>> read() {
        auto queues = read_queues();
        if (!queues) {
            return queues;
        }
        for (DurableQueue& queue : queues.value()) {
            entities_.emplace(queue.queue.id, &queue.queue);
            entities_.emplace(queue.dead_letters.id, &queue.dead_letters);
        }
        read_sequences();
        if (auto fault = read_messages()) {
            return std::move(*fault);
        }
        read_states();
        read_taken_ids();
        return queues;
    }

private:
    core::Result<std::vector<DurableQueue>> read_queues() {
        std::vector<DurableQueue> queues;
        Statement rows{database_, "SELECT id, dead_letters, name, kind, options, declared_rules, "
                                  "rules FROM queues ORDER BY id"};
        while (rows.step()) {
            const auto broken = [&](const std::string& why) {
                return Failure{.code = Errc::protocol_error,
                               .detail = "entity '" + rows.bytes(2) + "': " + why};
            };
            const auto kind = static_cast<EntityKind>(rows.number(3));
            if (kind > EntityKind::subscription) {
                return broken("unknown kind");
            }
            auto options = read_options(rows.bytes(4));
            auto declared_rules = codec_.decode_rules(rows.bytes(5));
            auto rules = codec_.decode_rules(rows.bytes(6));
            if (!options || !declared_rules || !rules) {
                return broken((!options ? options.failure()
                               : !rules ? rules.failure()
                                        : declared_rules.failure())
                                  .detail);
            }
            queues.push_back({.name = rows.bytes(2),
                              .kind = kind,
                              .options = std::move(options).value(),
                              .declared_rules = std::move(declared_rules).value(),
                              .rules = std::move(rules).value(),
                              .queue = {.id = id_in(rows, 0)},
                              .dead_letters = {.id = id_in(rows, 1)}});
        }
        return queues;
    }

    void read_sequences() {
        Statement rows{database_, "SELECT id, last_sequence FROM entities"};
        while (rows.step()) {
            if (DurableEntity* entity = entity_in(rows)) {
                entity->last_sequence = rows.number(1);
            }
        }
    }

    std::optional<Failure> read_messages() {
        Statement rows{database_,
                       "SELECT entity, sequence, place, delivery_count, enqueued, time_to_live, "
                       "reason, description, content, passed_to FROM messages "
                       "ORDER BY entity, sequence"};
        while (rows.step()) {
            DurableEntity* entity = entity_in(rows);
            if (entity == nullptr) {
                continue;
            }
            DurableMessage message{.entity = entity->id,
                                   .sequence = rows.number(1),
                                   .place = static_cast<MessageState>(rows.number(2)),
                                   .delivery_count = static_cast<std::uint32_t>(rows.number(3)),
                                   .enqueued_time = wall_of(rows.number(4))};
            const auto broken = [&](const std::string& why) {
                return Failure{.code = Errc::protocol_error,
                               .detail =
                                   "message " + std::to_string(message.sequence) + ": " + why};
            };
            if (message.place > MessageState::scheduled) {
                return broken("unknown state");
            }
            if (!rows.is_null(5)) {
                message.time_to_live = std::chrono::milliseconds{rows.number(5)};
            }
            if (!rows.is_null(6)) {
                message.dead_letter = std::make_shared<const DeadLetterInfo>(
                    DeadLetterInfo{.reason = rows.bytes(6), .description = rows.bytes(7)});
            }
            auto content = codec_.decode(rows.bytes(8), message.enqueued_time);
            if (!content) {
                return broken(content.failure().detail);
            }
            message.content = std::move(content).value();
            message.forwarded_to = read_ids(rows.bytes(9));
            entity->messages.push_back(std::move(message));
        }
        return std::nullopt;
    }

    void read_states() {
        Statement rows{database_, "SELECT entity, session_id, state FROM session_states"};
        while (rows.step()) {
            if (DurableEntity* entity = entity_in(rows)) {
                entity->states.push_back(
                    {.entity = entity->id, .session_id = rows.bytes(1), .state = rows.bytes(2)});
            }
        }
    }

    void read_taken_ids() {
        Statement rows{database_, "SELECT entity, message_id, sequence, until FROM taken_ids WHERE "
                                  "until > ? ORDER BY until"};
        rows.bind(nanoseconds_of(at_));
        while (rows.step()) {
            if (DurableEntity* entity = entity_in(rows)) {
                entity->taken_ids.push_back({.entity = entity->id,
                                             .message_id = rows.bytes(1),
                                             .sequence = rows.number(2),
                                             .until = wall_of(rows.number(3))});
            }
        }
    }

    static EntityId id_in(const Statement& rows, int column) {
        return static_cast<EntityId>(rows.number(column));
    }
    DurableEntity* entity_in(const Statement& rows) {
        const auto found = entities_.find(id_in(rows, 0));
        return found != entities_.end() ? found->second : nullptr;
    }

    Database& database_;
    const ContentCodec& codec_;
    const WallTime at_;
    std::map<EntityId, DurableEntity*> entities_;
};

} // namespace

core::Result<std::vector<DurableQueue>> read_store(Database& database, const ContentCodec& codec,
                                                   WallTime at) {
    return StoreReader{database, codec, at}.read();
}

} // namespace sessionq::broker
