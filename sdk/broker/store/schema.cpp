// SPDX-License-Identifier: MIT
#include "broker/store/schema.hpp"

#include <string>

#include "broker/store/ledger.hpp"
#include "broker/store/store_files.hpp"
#include "broker/store/table_writer.hpp"

namespace sessionq::broker {
namespace {

constexpr std::int64_t application_id = 0x53734e51; // "SsNQ"

// Instants are nanoseconds since 1970, times to live are milliseconds. `reason` is null unless the
// message is a dead letter, or was one. `passed_to` tells where a forwarded message comes from
// (`OriginText`), and lists the ids of the subscriptions that have received a topic's message. The
// checksum is that of `checksum_of`; in a table with long columns it stands
// before them, so that it can be read without them.
constexpr const char* tables = R"sql(
CREATE TABLE queues (
  id INTEGER PRIMARY KEY,
  dead_letters INTEGER NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  options TEXT NOT NULL,
  declared_rules BLOB NOT NULL,
  rules BLOB NOT NULL,
  checksum INTEGER NOT NULL
);
CREATE TABLE entities (
  id INTEGER PRIMARY KEY,
  last_sequence INTEGER NOT NULL,
  checksum INTEGER NOT NULL
);
CREATE TABLE messages (
  entity INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  place INTEGER NOT NULL,
  delivery_count INTEGER NOT NULL,
  enqueued INTEGER NOT NULL,
  time_to_live INTEGER,
  reason TEXT,
  description TEXT,
  content BLOB NOT NULL,
  passed_to TEXT NOT NULL,
  PRIMARY KEY (entity, sequence)
) WITHOUT ROWID;
CREATE TABLE session_states (
  entity INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (entity, session_id)
) WITHOUT ROWID;
CREATE TABLE taken_ids (
  entity INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  until INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (entity, message_id)
) WITHOUT ROWID;
CREATE INDEX taken_ids_by_age ON taken_ids (until);
CREATE TABLE ledger (
  id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  store INTEGER NOT NULL,
  commits INTEGER NOT NULL,
  queues INTEGER NOT NULL,
  queues_sum INTEGER NOT NULL,
  entities INTEGER NOT NULL,
  entities_sum INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  messages_sum INTEGER NOT NULL,
  session_states INTEGER NOT NULL,
  session_states_sum INTEGER NOT NULL,
  taken_ids INTEGER NOT NULL,
  taken_ids_sum INTEGER NOT NULL,
  checksum INTEGER NOT NULL
);
)sql";

// Lets free pages be returned to the disk.
constexpr const char* can_shrink = "PRAGMA auto_vacuum = INCREMENTAL";

/// Checks the whole file, also parts that are not read before some message is received: by then
/// other data would have been written over them.
void find_damage(Database& database, DamageReport& damage) {
    Statement check{database, "PRAGMA integrity_check"};
    while (check.step()) {
        if (check.view(0) != "ok") {
            damage.add(check.bytes(0));
        }
    }
}

/// Creates the tables and an empty ledger.
Ledger make_tables(Database& database) {
    database.run(tables);
    return {.version = schema_version, .store = database.number("SELECT random()")};
}

/// Moves the rows of a table that has no checksums.
template <typename Row>
void move_rows(Database& database, TableWriter<Row>& to) {
    const std::string former = "former_" + std::string{Row::table};
    Statement rows{database, "SELECT " + column_lists<Row>().all + " FROM " + former};
    while (rows.step()) {
        to.insert(read_row<Row>(rows, false).row);
    }
}

/// Upgrades a store of version 1 or 2. Its rows are believed.
void upgrade(Database& database, std::int64_t version) {
    if (version == 1) {
        database.run("ALTER TABLE messages ADD COLUMN passed_to TEXT NOT NULL DEFAULT ''");
    }
    database.run("DROP INDEX taken_ids_by_age");
    for (const char* table : Ledger::names) {
        const std::string name = table;
        database.run("ALTER TABLE " + name + " RENAME TO former_" + name);
    }
    Ledger ledger = make_tables(database);
    {
        TableWriters to{database, ledger};
        move_rows(database, to.queues);
        move_rows(database, to.entities);
        move_rows(database, to.messages);
        move_rows(database, to.states);
        move_rows(database, to.taken_ids);
    }
    for (const char* table : Ledger::names) {
        database.run("DROP TABLE former_" + std::string{table});
    }
    LedgerWriter{database}.write(ledger);
}

/// The definitions of the tables and the index.
std::string definitions(Database& database) {
    Statement rows{database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"};
    std::string text;
    while (rows.step()) {
        text += rows.bytes(0) + ";";
    }
    return text;
}

/// Fails if the store is not for this sessionq. A sound ledger shows that it is, even if the header
/// of the file says something else; and an older store has no ledger.
std::optional<Failure> check_version(Database& database, std::int64_t version,
                                     const std::filesystem::path& file, DamageReport& damage) {
    const std::int64_t application = database.number("PRAGMA application_id");
    if (application == application_id && version == schema_version) {
        return std::nullopt;
    }
    const bool has_ledger = has_current_schema(database);
    const auto ledger = has_ledger ? read_ledger(database) : std::nullopt;
    const bool is_older = application == application_id && version < schema_version;
    if ((ledger && ledger->version == schema_version) || (has_ledger && is_older)) {
        damage.add("its header was altered: version " + std::to_string(version));
        return std::nullopt;
    }
    if (application != application_id) {
        return refuse_store(Errc::invalid_argument, file, "is not a sessionq database");
    }
    if (version < 1 || version > schema_version) {
        return refuse_store(Errc::invalid_argument, file,
                            "has schema version " + std::to_string(version) +
                                "; this sessionq supports versions up to " +
                                std::to_string(schema_version));
    }
    return std::nullopt;
}

void initialise(Database& database) {
    const Ledger ledger = make_tables(database);
    LedgerWriter{database}.write(ledger);
    database.run("PRAGMA application_id = " + std::to_string(application_id));
}

} // namespace

bool has_current_schema(Database& database) {
    Database model{":memory:"};
    model.run(tables);
    return definitions(database) == definitions(model);
}

std::optional<Failure> prepare_store(Database& database, const std::filesystem::path& file,
                                     bool is_counted, DamageReport& damage) {
    database.run(
        "PRAGMA locking_mode = EXCLUSIVE"); // before the first read: no file of shared memory
    if (database.number("PRAGMA page_count") == 0) {
        // Only for an empty file: elsewhere this would be written at once, even into another
        // program's database.
        database.run(can_shrink);
    }
    database.run("BEGIN EXCLUSIVE");
    const std::int64_t version = database.number("PRAGMA user_version");
    const bool is_new = version == 0 && database.number("SELECT count(*) FROM sqlite_master") == 0;
    if (!is_new) {
        if (auto fault = check_version(database, version, file, damage)) {
            return fault;
        }
        find_damage(database, damage);
        if (version == schema_version && !has_current_schema(database)) {
            damage.add("the definitions of its tables were altered");
        }
    }
    if (is_counted && version != schema_version && damage.empty()) {
        damage.add("its header was altered, or its log is lost: version " +
                   std::to_string(version));
    }
    if (!damage.empty()) {
        database.run("ROLLBACK");
        return std::nullopt;
    }
    if (is_new) {
        initialise(database);
    } else if (version < schema_version) {
        // In one transaction; a write-ahead log would take twice the room of the store.
        database.run("COMMIT; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
        upgrade(database, version);
    }
    if (version != schema_version) {
        database.run("PRAGMA user_version = " + std::to_string(schema_version));
    }
    database.run("COMMIT");
    if (version == 1) {
        database.run(can_shrink);
        database.run("VACUUM"); // applies it to the existing pages
    }
    return std::nullopt;
}

} // namespace sessionq::broker
