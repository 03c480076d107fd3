// SPDX-License-Identifier: MIT
#include "broker/store/ledger.hpp"

#include "broker/store/row_checksum.hpp"
#include "broker/store/row_statements.hpp"

namespace sessionq::broker {
namespace {

/// The ledger of version 3: without runs and contents.
struct FormerLedger {
    static constexpr std::string_view table = Ledger::table;
    static constexpr int keys = Ledger::keys;
    static constexpr std::size_t tables = 5;

    Ledger ledger{};

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("id", row.ledger.id);
        visit("version", row.ledger.version);
        visit("store", row.ledger.store);
        visit("commits", row.ledger.commits);
        for (std::size_t i = 0; i < tables; ++i) {
            visit(Ledger::names[i], row.ledger.sums[i].rows);
            visit(Ledger::sum_names[i], row.ledger.sums[i].sum);
        }
    }
};

template <typename Row>
std::optional<Row> read_only_row(Database& database) {
    Statement rows{database, select_rows<Row>()};
    if (!rows.step()) {
        return std::nullopt;
    }
    const auto stored = read_row<Row>(rows);
    return stored.checksum == checksum_of(stored.row) && !rows.step() ? std::optional{stored.row}
                                                                      : std::nullopt;
}

} // namespace

std::optional<Ledger> read_ledger(Database& database) {
    if (database.number("SELECT count(*) FROM sqlite_master WHERE name = 'ledger'") == 0) {
        return std::nullopt;
    }
    if (database.number("SELECT count(*) FROM pragma_table_info('ledger') WHERE name = 'run'") !=
        0) {
        return read_only_row<Ledger>(database);
    }
    const auto former = read_only_row<FormerLedger>(database);
    return former ? std::optional{former->ledger} : std::nullopt;
}

LedgerWriter::LedgerWriter(Database& database)
    : write_{database, "INSERT OR REPLACE INTO ledger (" + column_lists<Ledger>().all +
                           ", checksum) VALUES (" + column_lists<Ledger>().values + ", ?)"} {}

void LedgerWriter::write(const Ledger& ledger) {
    bind_row(write_, ledger).bind(static_cast<std::int64_t>(checksum_of(ledger))).run();
}

} // namespace sessionq::broker
