// SPDX-License-Identifier: MIT
#include "broker/store/salvage.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "broker/store/ledger.hpp"
#include "broker/store/row_decoder.hpp"
#include "broker/store/row_names.hpp"
#include "broker/store/row_scan.hpp"
#include "broker/store/schema.hpp"
#include "broker/store/table_writer.hpp"

namespace sessionq::broker {
namespace {

class Salvage {
public:
    Salvage(Database& from, Database& to, const ContentCodec& codec)
        : from_{from}, to_{to}, codec_{codec}, ledger_{read_ledger(to).value()} {}

    Salvaged run() {
        look_at_ledger();
        to_.run("BEGIN IMMEDIATE");
        copy<QueueRow>(std::nullopt, [this](const QueueRow& row, const DurableQueue& queue) {
            const bool is_new = last_sequences_.try_emplace(row.id, 0).second &&
                                last_sequences_.try_emplace(row.dead_letters, 0).second &&
                                queues_.insert(queue.name).second;
            if (is_new) {
                names_.add(queue);
                tables_.queues.insert(row);
            } else {
                result_.lost.add(names_.of(row) + " is there twice");
            }
        });
        copy<EntityRow>(std::nullopt, [this](const EntityRow& row, const EntityRow&) {
            raise(row.id, row.last_sequence);
        });
        copy_contents();
        for (const auto& [entity, last] : last_sequences_) {
            copy_rows_of(entity, last);
        }
        erase_unused_contents();
        for (const auto& [entity, last] : last_sequences_) {
            tables_.entities.insert({.id = entity, .last_sequence = last});
        }
        LedgerWriter{to_}.write(ledger_);
        to_.run("COMMIT");
        compare_with_former_ledger();
        return std::move(result_);
    }

private:
    void look_at_ledger() {
        try {
            has_checksums_ = from_.number("SELECT count(*) FROM pragma_table_info('messages') "
                                          "WHERE name = 'checksum'") != 0;
            has_contents_ = has_contents(from_);
            former_ = read_ledger(from_);
        } catch (const DatabaseError& error) {
            result_.lost.add(std::string{"its tables cannot be found: "} + error.what());
        }
    }

    void copy_contents() {
        ledger_.last_content = former_ ? former_->last_content : 0;
        if (!has_contents_) { // a store of an earlier version
            return;
        }
        copy<ContentRow>(std::nullopt, [this](const ContentRow& row, const MessageContentPtr&) {
            contents_.emplace(row.id, 0);
            ledger_.last_content = std::max(ledger_.last_content, row.id);
            tables_.contents.insert(row);
        });
    }

    void copy_message(const MessageRow& row) {
        if (row.content.shared != 0) {
            const auto content = contents_.find(row.content.shared);
            if (content == contents_.end()) {
                result_.lost.add(names_.of_lost_content(row));
                --result_.rows; // it was sound, but is of no use
                return;
            }
            ++content->second;
        }
        tables_.messages.insert(row);
    }

    void erase_unused_contents() {
        for (const auto& [id, uses] : contents_) {
            if (uses == 0) {
                tables_.contents.erase({.id = id});
                --result_.rows;
            }
        }
    }

    void copy_rows_of(std::int64_t entity, std::int64_t last) {
        copy<MessageRow>(
            entity,
            [this](const MessageRow& row, const DurableMessage&) {
                raise(row.entity, row.sequence);
                copy_message(row);
            },
            0, last > 0 ? std::optional{last + 1} : std::nullopt);
        copy<SessionStateRow>(entity, [this](const SessionStateRow& row, const SessionStateSet&) {
            tables_.states.insert(row);
        });
        copy<TakenIdRow>(entity, [this](const TakenIdRow& row, const MessageIdTaken&) {
            raise(row.entity, row.sequence);
            tables_.taken_ids.insert(row);
        });
    }

    /// Calls `use(row, decoded)` for each sound row.
    template <typename Row, typename Use>
    void copy(std::optional<std::int64_t> entity, Use use, typename RowScan<Row>::Bound above = {},
              typename RowScan<Row>::Bound below = {}) {
        RowScan<Row> scan{from_, entity, has_checksums_, std::move(above), std::move(below)};
        const bool is_complete = scan.run([&](const StoredRow<Row>& stored) {
            if (has_checksums_ && stored.checksum != checksum_of(stored.row)) {
                result_.lost.add(names_.of(stored.row) + " was altered");
                return;
            }
            if (const auto decoded = decode(stored.row, codec_)) {
                use(stored.row, decoded.value());
                ++result_.rows;
            } else {
                result_.lost.add(names_.of(stored.row) +
                                 " is invalid: " + decoded.failure().detail);
            }
        });
        if (!is_complete) {
            result_.lost.add(std::string{Row::table} + ": a part of the file" +
                             (entity ? " with rows of " + names_.of_entity(*entity) : "") +
                             " cannot be read");
        }
    }

    void raise(std::int64_t entity, std::int64_t sequence) {
        if (const auto found = last_sequences_.find(entity); found != last_sequences_.end()) {
            found->second = std::max(found->second, sequence);
        }
    }

    void compare_with_former_ledger() {
        if (!former_) {
            result_.lost.add("ledger: it is missing or was altered; the number of missing rows is "
                             "not known");
            return;
        }
        for (std::size_t i = 0; i < Ledger::names.size(); ++i) {
            const std::int64_t missing = former_->sums[i].rows - ledger_.sums[i].rows;
            if (missing > 0) {
                result_.lost.add(std::string{Ledger::names[i]} + ": " + std::to_string(missing) +
                                 " of " + std::to_string(former_->sums[i].rows) +
                                 " rows are set aside or missing");
            }
        }
    }

    Database& from_;
    Database& to_;
    const ContentCodec& codec_;
    Ledger ledger_;
    TableWriters tables_{to_, ledger_};
    std::optional<Ledger> former_;
    bool has_checksums_{true};
    bool has_contents_{true};
    RowNames names_;
    std::set<std::string> queues_;
    std::map<std::int64_t, std::int64_t> contents_;       // by id, how many messages use each
    std::map<std::int64_t, std::int64_t> last_sequences_; // by the ids of salvaged entities
    Salvaged result_;
};

} // namespace

Salvaged salvage(Database& from, Database& to, const ContentCodec& codec) {
    return Salvage{from, to, codec}.run();
}

} // namespace sessionq::broker
