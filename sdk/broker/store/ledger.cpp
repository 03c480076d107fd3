// SPDX-License-Identifier: MIT
#include "broker/store/ledger.hpp"

#include "broker/store/row_checksum.hpp"
#include "broker/store/row_statements.hpp"

namespace sessionq::broker {

std::optional<Ledger> read_ledger(Database& database) {
    if (database.number("SELECT count(*) FROM sqlite_master WHERE name = 'ledger'") == 0) {
        return std::nullopt;
    }
    Statement rows{database, select_rows<Ledger>()};
    if (!rows.step()) {
        return std::nullopt;
    }
    const auto stored = read_row<Ledger>(rows);
    return stored.checksum == checksum_of(stored.row) && !rows.step() ? std::optional{stored.row}
                                                                      : std::nullopt;
}

LedgerWriter::LedgerWriter(Database& database)
    : write_{database, "INSERT OR REPLACE INTO ledger (" + column_lists<Ledger>().all +
                           ", checksum) VALUES (" + column_lists<Ledger>().values + ", ?)"} {}

void LedgerWriter::write(const Ledger& ledger) {
    bind_row(write_, ledger).bind(static_cast<std::int64_t>(checksum_of(ledger))).run();
}

} // namespace sessionq::broker
