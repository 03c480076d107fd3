// SPDX-License-Identifier: MIT
#include "broker/store/store_reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "broker/store/ledger.hpp"
#include "broker/store/row_checksum.hpp"
#include "broker/store/row_decoder.hpp"
#include "broker/store/row_names.hpp"
#include "broker/store/row_statements.hpp"
#include "broker/store/schema.hpp"

namespace sessionq::broker {
namespace {

class StoreReader {
public:
    StoreReader(Database& database, const ContentCodec& codec, WallTime at, DamageReport& damage)
        : database_{database}, codec_{codec}, at_{at}, damage_{damage} {}

    StoreContents read() {
        read_table<QueueRow>(" ORDER BY id", [this](const QueueRow&, DurableQueue queue) {
            names_.add(queue);
            read_.queues.push_back(std::move(queue));
        });
        for (DurableQueue& queue : read_.queues) {
            entities_.emplace(queue.queue.id, &queue.queue);
            entities_.emplace(queue.dead_letters.id, &queue.dead_letters);
        }
        read_table<EntityRow>("", [this](const EntityRow& row, const EntityRow&) {
            if (DurableEntity* entity = find(row.id)) {
                entity->last_sequence = row.last_sequence;
            }
        });
        if (has_contents(database_)) {
            read_table<ContentRow>(" ORDER BY id",
                                   [this](const ContentRow& row, MessageContentPtr content) {
                                       read_.shared.add(row.id, std::move(content));
                                   });
        }
        read_table<MessageRow>(" ORDER BY entity, sequence",
                               [this](const MessageRow& row, DurableMessage message) {
                                   take(row, std::move(message));
                               });
        read_table<SessionStateRow>(" ORDER BY entity, session_id",
                                    [this](const SessionStateRow&, SessionStateSet state) {
                                        if (DurableEntity* entity = find(state.entity)) {
                                            entity->states.push_back(std::move(state));
                                        }
                                    });
        read_table<TakenIdRow>(" ORDER BY entity, message_id",
                               [this](const TakenIdRow&, MessageIdTaken taken) {
                                   DurableEntity* entity = find(taken.entity);
                                   if (entity != nullptr && taken.until > at_) {
                                       entity->taken_ids.push_back(std::move(taken));
                                   }
                               });
        for (const auto& [id, entity] : entities_) {
            std::ranges::stable_sort(entity->taken_ids, {}, &MessageIdTaken::until);
        }
        compare_with_ledger();
        return std::move(read_);
    }

private:
    template <typename Row, typename Use>
    void read_table(const std::string& order, Use use) {
        Statement rows{database_, select_rows<Row>() + order};
        while (rows.step()) {
            const auto [row, checksum] = read_row<Row>(rows);
            found_.of<Row>().add(checksum);
            if (checksum != checksum_of(row)) {
                damage_.add(names_.of(row) + " was altered");
                is_altered_[Row::position] = true;
            } else if (auto decoded = decode(row, codec_)) {
                use(row, std::move(decoded).value());
            } else {
                damage_.add(names_.of(row) + " is invalid: " + decoded.failure().detail);
            }
        }
    }

    void take(const MessageRow& row, DurableMessage message) {
        if (row.content.shared != 0) {
            message.content = read_.shared.content_of(row.content.shared);
            if (message.content == nullptr) {
                damage_.add(names_.of_lost_content(row));
                return;
            }
            read_.shared.use(row.content.shared);
        }
        if (DurableEntity* entity = find(message.entity)) {
            entity->messages.push_back(std::move(message));
        }
    }

    void compare_with_ledger() {
        const auto ledger = read_ledger(database_);
        if (!ledger) {
            damage_.add("ledger: it is missing or was altered; missing rows cannot be noticed");
            return;
        }
        for (std::size_t i = 0; i < Ledger::names.size(); ++i) {
            const TableSum& should = ledger->sums[i];
            const TableSum& is = found_.sums[i];
            const std::int64_t missing = should.rows - is.rows;
            const std::string of_all = " of " + std::to_string(should.rows) + " rows are missing";
            if (missing != 0) {
                damage_.add(std::string{Ledger::names[i]} + ": " +
                            (missing > 0 ? std::to_string(missing) + of_all
                                         : std::to_string(-missing) + " rows came back"));
            } else if (should.sum != is.sum && !is_altered_[i]) {
                damage_.add(std::string{Ledger::names[i]} +
                            ": rows were lost, and others came back or are of an older version");
            }
        }
    }

    DurableEntity* find(std::int64_t id) {
        const auto found = entities_.find(id);
        return found != entities_.end() ? found->second : nullptr;
    }

    Database& database_;
    const ContentCodec& codec_;
    const WallTime at_;
    DamageReport& damage_;
    RowNames names_;
    StoreContents read_;
    Ledger found_;
    std::array<bool, Ledger::names.size()> is_altered_{};
    std::map<std::int64_t, DurableEntity*> entities_;
};

} // namespace

StoreContents read_store(Database& database, const ContentCodec& codec, WallTime at,
                         DamageReport& damage) {
    return StoreReader{database, codec, at, damage}.read();
}

} // namespace sessionq::broker
