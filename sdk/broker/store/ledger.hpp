// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "broker/store/database.hpp"

namespace sessionq::broker {

/// Count and sum of the checksums of a table's rows. A row that is lost, that appears twice or that
/// came back in an older version changes it.
struct TableSum {
    std::int64_t rows{0};
    std::int64_t sum{0}; ///< modulo 2^64

    void add(std::uint64_t checksum) noexcept {
        ++rows;
        sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + checksum);
    }
    void remove(std::uint64_t checksum) noexcept {
        --rows;
        sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) - checksum);
    }
    bool operator==(const TableSum&) const noexcept = default;
};

/// The rows that a store should hold, as counts and sums, and its commits. The ledger is one row,
/// written with each commit.
struct Ledger {
    static constexpr std::string_view table = "ledger";
    static constexpr int keys = 1;
    static constexpr std::array names{"queues",         "entities",  "messages",
                                      "session_states", "taken_ids", "contents"};
    static constexpr std::array sum_names{"queues_sum",         "entities_sum",  "messages_sum",
                                          "session_states_sum", "taken_ids_sum", "contents_sum"};

    std::int64_t id{1};
    std::int64_t version{0}; ///< of the schema
    std::int64_t store{0};   ///< a random number that names the store
    std::int64_t commits{0}; ///< since the store was made
    /// A random number that the last start drew. Zero: commits were not counted since.
    std::int64_t run{0};
    std::int64_t last_content{0}; ///< the highest id of a content so far. None is used again
    std::array<TableSum, names.size()> sums{};

    /// The sum of the table of these rows.
    template <typename Row>
    [[nodiscard]] TableSum& of() noexcept {
        return std::get<Row::position>(sums);
    }
    template <typename Row>
    [[nodiscard]] const TableSum& of() const noexcept {
        return std::get<Row::position>(sums);
    }

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("id", row.id);
        visit("version", row.version);
        visit("store", row.store);
        visit("commits", row.commits);
        visit("run", row.run);
        visit("last_content", row.last_content);
        for (std::size_t i = 0; i < names.size(); ++i) {
            visit(names[i], row.sums[i].rows);
            visit(sum_names[i], row.sums[i].sum);
        }
    }
};

/// Reads that of a store of version 3 too. Returns nothing if it is missing or damaged. Throws
/// DatabaseError.
[[nodiscard]] std::optional<Ledger> read_ledger(Database& database);

/// Writes the ledger. For one thread at a time. Throws DatabaseError.
class LedgerWriter {
public:
    explicit LedgerWriter(Database& database);
    void write(const Ledger& ledger);

private:
    Statement write_;
};

} // namespace sessionq::broker
