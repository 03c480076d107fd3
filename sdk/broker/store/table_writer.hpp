// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "broker/store/database.hpp"
#include "broker/store/ledger.hpp"
#include "broker/store/row_checksum.hpp"
#include "broker/store/row_statements.hpp"

namespace sessionq::broker {

/// Writes the rows of one table with their checksums, and keeps the table's sum. For one thread at
/// a time. Every function throws DatabaseError.
template <typename Row>
class TableWriter {
public:
    /// `database` and `sum` must outlive the writer.
    TableWriter(Database& database, TableSum& sum) : database_{database}, sum_{sum} {
        database.define(take_off_, [this](std::int64_t checksum, std::int64_t reference) {
            take_off(checksum, reference);
        });
        erase_.emplace(database, "DELETE FROM " + table_ + " WHERE " + lists_.where + " AND " +
                                     take_off_ + "(" + checksum_and_reference() + ")");
    }
    TableWriter(const TableWriter&) = delete;
    TableWriter& operator=(const TableWriter&) = delete;

    /// Calls `use` with the reference of each row that is erased or replaced from now on.
    void on_release(std::function<void(std::int64_t)> use) { release_ = std::move(use); }

    /// Adds a row, or replaces the row of its key. Quickest for a row that is new.
    void insert(const Row& row) {
        if (!try_insert(row) && !try_replace(row)) {
            throw contradiction();
        }
    }

    /// Adds a row, or replaces the row of its key. Quickest for a row that is there.
    void put(const Row& row) {
        if (!try_replace(row) && !try_insert(row)) {
            throw contradiction();
        }
    }

    /// Reads the row of `key`, lets `change` change columns outside of the key, and writes it. No
    /// effect if there is no such row. `change` itself keeps or releases the reference of the row.
    template <typename Change>
    void change(const Row& key, Change change) {
        bind_row(find_, key, Columns::keys);
        if (!find_.step()) {
            return;
        }
        const Reset reset{find_}; // not before the end: `row` has views of its memory
        const auto former = read_row<Row>(find_);
        // Zero unless the row was damaged. Then its new checksum must not make it look sound.
        const std::uint64_t difference = former.checksum ^ checksum_of(former.row);
        Row row = former.row;
        change(row);
        update(row, former.checksum, checksum_of(row) ^ difference);
    }

    /// No effect if there is no row of this key.
    void erase(const Row& key) {
        // The function in its condition sees the checksum. RETURNING, or a query before, would
        // take another search: a fifth of all work for a message that comes and goes.
        bind_row(*erase_, key, Columns::keys).run();
    }

    /// Removes the rows that match `condition`, an SQL term with one parameter.
    void erase_where(const std::string& condition, std::int64_t value) {
        Statement rows{database_, "DELETE FROM " + table_ + " WHERE " + condition + " RETURNING " +
                                      checksum_and_reference()};
        rows.bind(value);
        while (rows.step()) {
            take_off(rows.number(0), rows.number(1));
        }
    }

private:
    /// Ends the run of a statement, also when something is thrown.
    struct Reset {
        Statement& statement;
        explicit Reset(Statement& of) : statement{of} {}
        ~Reset() { statement.reset(); }
        Reset(const Reset&) = delete;
        Reset& operator=(const Reset&) = delete;
    };

    struct Former {
        std::uint64_t checksum{0};
        std::int64_t reference{0};
    };

    static std::string checksum_and_reference() {
        if constexpr (requires { Row::reference; }) {
            return std::string{"checksum, "} + Row::reference;
        } else {
            return "checksum, 0";
        }
    }

    /// A row is gone.
    void take_off(std::int64_t checksum, std::int64_t reference) {
        sum_.remove(static_cast<std::uint64_t>(checksum));
        release(reference);
    }
    void release(std::int64_t reference) {
        if (reference != 0 && release_) {
            release_(reference);
        }
    }

    std::optional<Former> find_former(const Row& key) {
        const Reset reset{find_former_};
        if (!bind_row(find_former_, key, Columns::keys).step()) {
            return std::nullopt;
        }
        return Former{.checksum = static_cast<std::uint64_t>(find_former_.number(0)),
                      .reference = find_former_.number(1)};
    }

    bool try_insert(const Row& row) {
        const std::uint64_t checksum = checksum_of(row);
        bind_row(insert_, row).bind(static_cast<std::int64_t>(checksum)).run();
        if (database_.changes() == 0) {
            return false;
        }
        sum_.add(checksum);
        return true;
    }

    bool try_replace(const Row& row) {
        const auto former = find_former(row);
        if (former) {
            update(row, former->checksum, checksum_of(row));
            release(former->reference);
        }
        return former.has_value();
    }

    void update(const Row& row, std::uint64_t former, std::uint64_t checksum) {
        bind_row(update_, row, Columns::others).bind(static_cast<std::int64_t>(checksum));
        bind_row(update_, row, Columns::keys).run();
        sum_.remove(former);
        sum_.add(checksum);
    }

    [[nodiscard]] DatabaseError contradiction() const {
        return {DatabaseError::Kind::damaged, "a row of " + table_ + " is there and is not"};
    }

    Database& database_;
    TableSum& sum_;
    const std::string table_{Row::table};
    const ColumnLists lists_{column_lists<Row>()};
    Statement insert_{database_, "INSERT INTO " + table_ + " (" + lists_.all +
                                     ", checksum) VALUES (" + lists_.values + ", ?) ON CONFLICT (" +
                                     lists_.keys + ") DO NOTHING"};
    Statement find_{database_, select_rows<Row>() + " WHERE " + lists_.where};
    Statement find_former_{database_, "SELECT " + checksum_and_reference() + " FROM " + table_ +
                                          " WHERE " + lists_.where};
    Statement update_{database_, "UPDATE " + table_ + " SET " + lists_.settings +
                                     "checksum = ? WHERE " + lists_.where};
    const std::string take_off_{"take_off_" + table_}; // an SQL function
    std::optional<Statement> erase_;
    std::function<void(std::int64_t)> release_;
};

/// All tables of a store, with one ledger. For one thread at a time.
struct TableWriters {
    /// `database` and `ledger` must outlive the writers.
    TableWriters(Database& database, Ledger& ledger)
        : queues{database, ledger.of<QueueRow>()},
          entities{database, ledger.of<EntityRow>()},
          messages{database, ledger.of<MessageRow>()},
          states{database, ledger.of<SessionStateRow>()},
          taken_ids{database, ledger.of<TakenIdRow>()},
          contents{database, ledger.of<ContentRow>()} {}

    TableWriter<QueueRow> queues;
    TableWriter<EntityRow> entities;
    TableWriter<MessageRow> messages;
    TableWriter<SessionStateRow> states;
    TableWriter<TakenIdRow> taken_ids;
    TableWriter<ContentRow> contents;
};

} // namespace sessionq::broker
