// SPDX-License-Identifier: MIT
#include "broker/store/schema.hpp"

#include <array>
#include <string>

#include "broker/store/ledger.hpp"
#include "broker/store/store_files.hpp"
#include "broker/store/table_writer.hpp"

namespace sessionq::broker {
namespace {

constexpr std::int64_t application_id = 0x53734e51; // "SsNQ"

// A version that the rows are as they are now in. Version 4 added `contents`, and columns of the
// ledger.
constexpr std::int64_t first_checked_version = 3;

// Instants are nanoseconds since 1970, times to live are milliseconds. `reason` is null unless the
// message is a dead letter, or was one. `passed_to` tells where a forwarded message comes from
// (`OriginText`), and lists the ids of the subscriptions that have received a topic's message. The
// content of a message is a blob, or an integer: the id of the row of `contents` that has it for
// several messages. The checksum is that of `checksum_of`; in a table with long columns it stands
// before them, so that it can be read without them.
constexpr const char* row_tables = R"sql(
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
)sql";

constexpr const char* former_ledger = R"sql(
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

constexpr const char* contents_and_ledger = R"sql(
CREATE TABLE contents (
  id INTEGER PRIMARY KEY,
  checksum INTEGER NOT NULL,
  enqueued INTEGER NOT NULL,
  bytes BLOB NOT NULL
);
CREATE TABLE ledger (
  id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  store INTEGER NOT NULL,
  commits INTEGER NOT NULL,
  run INTEGER NOT NULL,
  last_content INTEGER NOT NULL,
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
  contents INTEGER NOT NULL,
  contents_sum INTEGER NOT NULL,
  checksum INTEGER NOT NULL
);
)sql";

// The tables of version 2, and of 1.
constexpr std::array first_tables{"queues", "entities", "messages", "session_states", "taken_ids"};

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
    database.run(row_tables);
    database.run(contents_and_ledger);
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
void rewrite_rows(Database& database, std::int64_t version) {
    if (version == 1) {
        database.run("ALTER TABLE messages ADD COLUMN passed_to TEXT NOT NULL DEFAULT ''");
    }
    database.run("DROP INDEX taken_ids_by_age");
    for (const char* table : first_tables) {
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
    for (const char* table : first_tables) {
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

std::string definitions_of(const std::string& tables) {
    Database model{":memory:"};
    model.run(tables);
    return definitions(model);
}

/// The version that the tables are of, if it has checksums. Else zero.
std::int64_t version_of_tables(Database& database) {
    const std::string found = definitions(database);
    if (found == definitions_of(std::string{row_tables} + contents_and_ledger)) {
        return schema_version;
    }
    return found == definitions_of(std::string{row_tables} + former_ledger) ? first_checked_version
                                                                            : 0;
}

/// Fails if the store is not for this sessionq. A sound ledger shows that it is, even if the header
/// of the file says something else; and an older store has no ledger.
std::optional<Failure> check_version(Database& database, std::int64_t version,
                                     const std::filesystem::path& file, DamageReport& damage) {
    const std::int64_t application = database.number("PRAGMA application_id");
    const std::int64_t of_tables = version_of_tables(database);
    const bool is_checked = version >= first_checked_version && version <= schema_version;
    if (application == application_id && is_checked && (of_tables == version || of_tables == 0)) {
        if (of_tables == 0) {
            damage.add("the definitions of its tables were altered");
        }
        return std::nullopt;
    }
    const auto ledger = of_tables != 0 ? read_ledger(database) : std::nullopt;
    const bool is_known = application == application_id && version <= schema_version;
    if ((ledger && ledger->version == of_tables) || (of_tables != 0 && is_known)) {
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

bool has_known_tables(Database& database) { return version_of_tables(database) != 0; }

bool has_contents(Database& database) {
    return database.number("SELECT count(*) FROM sqlite_master WHERE name = 'contents'") != 0;
}

void begin_run(Database& database, std::int64_t run) {
    database.run("BEGIN IMMEDIATE");
    try {
        auto ledger = read_ledger(database);
        if (!ledger) {
            throw DatabaseError{DatabaseError::Kind::damaged, "the ledger is missing or altered"};
        }
        if (!has_contents(database)) {
            database.run("DROP TABLE ledger");
            database.run(contents_and_ledger);
            database.run("PRAGMA user_version = " + std::to_string(schema_version));
            ledger->version = schema_version;
        }
        ledger->run = run;
        LedgerWriter{database}.write(*ledger);
        database.run("COMMIT");
    } catch (...) {
        if (database.is_in_transaction()) {
            database.run("ROLLBACK");
        }
        throw;
    }
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
    const bool is_first = !is_new && version < first_checked_version;
    if (!is_new) {
        if (auto fault = check_version(database, version, file, damage)) {
            return fault;
        }
        find_damage(database, damage);
    }
    if (is_counted && (is_new || is_first) && damage.empty()) {
        damage.add("its header was altered, or its log is lost: version " +
                   std::to_string(version));
    }
    if (!damage.empty()) {
        database.run("ROLLBACK");
        return std::nullopt;
    }
    if (is_new) {
        initialise(database);
    } else if (is_first) {
        // In one transaction; a write-ahead log would take twice the room of the store.
        database.run("COMMIT; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
        rewrite_rows(database, version);
    }
    if (is_new || is_first) {
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
