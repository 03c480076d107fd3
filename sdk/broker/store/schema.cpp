#include "broker/store/schema.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace sessionq::broker {
namespace {

constexpr std::int64_t application_id = 0x53734e51; // "SsNQ"
constexpr std::int64_t schema_version = 2;

// Instants are nanoseconds since 1970, times to live are milliseconds. `reason` is null unless the
// message is a dead letter. `passed_to` lists the ids of the subscriptions that have received a
// topic's message.
constexpr const char* tables = R"sql(
CREATE TABLE queues (
  id INTEGER PRIMARY KEY,
  dead_letters INTEGER NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  options TEXT NOT NULL,
  declared_rules BLOB NOT NULL,
  rules BLOB NOT NULL
);
CREATE TABLE entities (
  id INTEGER PRIMARY KEY,
  last_sequence INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE messages (
  entity INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  place INTEGER NOT NULL,
  delivery_count INTEGER NOT NULL,
  enqueued INTEGER NOT NULL,
  time_to_live INTEGER,
  reason TEXT,
  description TEXT,
  content BLOB NOT NULL,
  passed_to TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (entity, sequence)
) WITHOUT ROWID;
CREATE TABLE session_states (
  entity INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (entity, session_id)
) WITHOUT ROWID;
CREATE TABLE taken_ids (
  entity INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (entity, message_id)
) WITHOUT ROWID;
CREATE INDEX taken_ids_by_age ON taken_ids (until);
)sql";

// Lets free pages be returned to the disk.
constexpr const char* can_shrink = "PRAGMA auto_vacuum = INCREMENTAL";

// Upgrades a store of version 1 to version 2.
constexpr const char* to_version_2 =
    "ALTER TABLE messages ADD COLUMN passed_to TEXT NOT NULL DEFAULT ''";

Failure refusal(Errc code, const std::filesystem::path& what, const std::string& why) {
    return {.code = code, .detail = "the store '" + what.string() + "' " + why};
}

std::optional<Failure> make_directory(const std::filesystem::path& directory) {
    std::error_code error;
    if (std::filesystem::create_directories(directory, error)) {
        std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
    }
    if (error || !std::filesystem::is_directory(directory, error)) {
        return refusal(Errc::resource_exhausted, directory,
                       "cannot be created: " +
                           (error ? error.message() : std::string{"it is not a directory"}));
    }
    return std::nullopt;
}

/// Checks the whole file, also parts that are not read before some message is received: by then
/// other data would have been written over them.
std::optional<std::string> find_damage(Database& database) {
    Statement check{database, "PRAGMA quick_check(1)"};
    std::string found = check.step() ? check.bytes(0) : "ok";
    std::ranges::replace(found, '\n', ' ');
    return found == "ok" ? std::nullopt : std::optional{std::move(found)};
}

} // namespace

std::filesystem::path store_file(const std::filesystem::path& directory) {
    return directory / "sessionq.db";
}

std::filesystem::path reserve_file(const std::filesystem::path& directory) {
    return directory / "reserve";
}

std::optional<Failure> prepare_store(Database& database, const std::filesystem::path& file) {
    if (database.number("PRAGMA page_count") == 0) {
        // Only for an empty file: elsewhere this would be written at once, even into another
        // program's database.
        database.run(can_shrink);
    }
    database.run("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const std::int64_t version = database.number("PRAGMA user_version");
    const bool is_new = version == 0 && database.number("SELECT count(*) FROM sqlite_master") == 0;
    if (!is_new && database.number("PRAGMA application_id") != application_id) {
        return refusal(Errc::invalid_argument, file, "is not a sessionq database");
    }
    if (!is_new && (version < 1 || version > schema_version)) {
        return refusal(Errc::invalid_argument, file,
                       "has schema version " + std::to_string(version) +
                           "; this sessionq supports versions up to " +
                           std::to_string(schema_version));
    }
    if (const auto damage = is_new ? std::nullopt : find_damage(database)) {
        return refusal(Errc::protocol_error, file, "is damaged: " + *damage);
    }
    if (is_new) {
        database.run(tables);
        database.run("PRAGMA application_id = " + std::to_string(application_id));
    } else if (version == 1) {
        database.run(to_version_2);
    }
    if (version != schema_version) {
        database.run("PRAGMA user_version = " + std::to_string(schema_version));
    }
    database.run("COMMIT");
    if (version == 1) {
        database.run(can_shrink);
        database.run("VACUUM"); // applies it to the existing pages
    }
    database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    return std::nullopt;
}

core::Result<std::unique_ptr<Database>> open_store(const std::filesystem::path& directory) {
    if (auto fault = make_directory(directory)) {
        return std::move(*fault);
    }
    const std::filesystem::path file = store_file(directory);
    std::error_code not_there;
    if (std::filesystem::file_size(file, not_there) == 0 &&
        std::filesystem::exists(reserve_file(directory), not_there)) {
        return refusal(Errc::protocol_error, file, "is damaged: it is empty but was in use");
    }
    try {
        auto database = std::make_unique<Database>(file.string());
        if (auto fault = prepare_store(*database, file)) {
            return std::move(*fault);
        }
        return database;
    } catch (const DatabaseError& error) {
        switch (error.kind()) {
        case DatabaseError::Kind::locked:
            return refusal(Errc::invalid_state, file, "is in use by another process");
        case DatabaseError::Kind::no_database:
            return refusal(Errc::invalid_argument, file, "is not a database");
        case DatabaseError::Kind::damaged:
            return refusal(Errc::protocol_error, file, std::string{"is damaged: "} + error.what());
        case DatabaseError::Kind::full:
        case DatabaseError::Kind::other: break;
        }
        return refusal(Errc::resource_exhausted, file,
                       std::string{"cannot be used: "} + error.what());
    }
}

} // namespace sessionq::broker
