// SPDX-License-Identifier: MIT
#include "broker/store/open_store.hpp"

#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "broker/store/damage_report.hpp"
#include "broker/store/ledger.hpp"
#include "broker/store/salvage.hpp"
#include "broker/store/schema.hpp"
#include "broker/store/store_files.hpp"
#include "broker/store/store_reader.hpp"
#include "core/log.hpp"

namespace sessionq::broker {
namespace {

namespace fs = std::filesystem;

std::int64_t draw_run() {
    std::random_device random;
    const std::uint64_t drawn = (std::uint64_t{random()} << 32U) | random();
    return drawn != 0 ? static_cast<std::int64_t>(drawn) : 1;
}

class StoreOpener {
public:
    StoreOpener(const fs::path& directory, const ContentCodec& codec, WallTime at)
        : directory_{directory}, file_{store_file(directory)}, codec_{codec}, at_{at} {}

    core::Result<OpenedStore> open(OnDamage on_damage) {
        if (auto fault = prepare_directory(directory_)) {
            return std::move(*fault);
        }
        if (is_store_missing(directory_)) {
            damage_.add("it is empty or missing but was in use");
        } else if (auto fault = load()) {
            return std::move(*fault);
        }
        if (!damage_.empty()) {
            if (on_damage == OnDamage::refuse) {
                return refuse_store(Errc::protocol_error, file_,
                                    "is damaged: " + damage_.text() +
                                        ". Restore a backup, or start with --on-damage set-aside "
                                        "(LocalBrokerOptions::on_damage) to keep the damaged files "
                                        "and serve what is sound");
            }
            if (auto fault = set_aside()) {
                return std::move(*fault);
            }
        }
        try {
            accept();
        } catch (const DatabaseError& error) {
            return refuse_store(Errc::resource_exhausted, file_,
                                std::string{"cannot be used: "} + error.what());
        }
        return std::move(opened_);
    }

private:
    /// Opens the database and reads it. Adds the damages that it finds to `damage_`.
    std::optional<Failure> load() {
        if (auto fault = make_private_file(file_)) {
            return fault;
        }
        std::error_code unknown;
        const bool is_counted = fs::exists(counter_file(directory_), unknown);
        try {
            opened_.database = std::make_unique<Database>(file_.string());
            Database& database = *opened_.database;
            database.keep_log_on_close(true); // a refused store stays as it is
            if (auto fault = prepare_store(database, file_, is_counted, damage_)) {
                return fault;
            }
            if (has_known_tables(database)) {
                StoreContents read = read_store(database, codec_, at_, damage_);
                opened_.queues = std::move(read.queues);
                opened_.contents = std::move(read.shared);
                compare_with_counter(database);
            }
        } catch (const DatabaseError& error) {
            return judge(error);
        }
        return std::nullopt;
    }

    /// An error while loading: a damage, or a failure.
    std::optional<Failure> judge(const DatabaseError& error) {
        std::error_code unknown;
        switch (error.kind()) {
        case DatabaseError::Kind::locked:
            return refuse_store(Errc::invalid_state, file_, "is in use by another process");
        case DatabaseError::Kind::no_database:
            if (!fs::exists(counter_file(directory_), unknown)) {
                return refuse_store(Errc::invalid_argument, file_, "is not a database");
            }
            [[fallthrough]];
        case DatabaseError::Kind::damaged: damage_.add(error.what()); return std::nullopt;
        case DatabaseError::Kind::full:
        case DatabaseError::Kind::other: break;
        }
        return refuse_store(Errc::resource_exhausted, file_,
                            std::string{"cannot be used: "} + error.what());
    }

    void compare_with_counter(Database& database) {
        const CommitCounter::Contents counted = CommitCounter{counter_file(directory_)}.read();
        const auto ledger = read_ledger(database);
        if (counted.is_damaged) {
            core::log(LogLevel::warning, "broker", "the file '", counter_file(directory_).string(),
                      "' is damaged: ",
                      !counted.counts.empty()
                          ? "the last commit before this start may be lost"
                          : "commits that were lost before this start are not noticed");
        } else if (!counted.exists && ledger && ledger->commits > 0) {
            core::log(LogLevel::warning, "broker", "the file '", counter_file(directory_).string(),
                      "' is missing: commits that were lost before this start are not noticed");
        }
        if (ledger) {
            if (auto lost = find_lost_commits(*ledger, counted, count_of(*ledger).boot)) {
                damage_.add(std::move(*lost));
            }
        }
    }

    std::optional<Failure> set_aside() {
        opened_ = {}; // closes the database
        for (const std::string& damage : damage_.named()) {
            core::log(LogLevel::error, "broker", "the store '", file_.string(),
                      "' is damaged: ", damage);
        }
        const fs::path fresh = salvage_file(directory_);
        Salvaged salvaged;
        try {
            if (auto fault = write_salvage(fresh, salvaged)) {
                return fault;
            }
        } catch (const DatabaseError& error) {
            return refuse_store(Errc::resource_exhausted, fresh,
                                std::string{"cannot be written: "} + error.what());
        }
        const auto aside = set_store_aside(directory_, fresh);
        if (!aside) {
            return aside.failure();
        }
        for (const std::string& lost : salvaged.lost.named()) {
            core::log(LogLevel::error, "broker", "not taken over from '", aside.value().string(),
                      "': ", lost);
        }
        core::log(LogLevel::error, "broker", "the store '", file_.string(), "' had ",
                  damage_.count(), " damages: ", salvaged.rows, " sound rows were taken over, ",
                  salvaged.lost.count(), " damages were not repaired; the damaged files are '",
                  aside.value().string(), "'");
        std::error_code ignored;
        fs::remove(counter_file(directory_), ignored); // it counts those of the damaged store
        const std::size_t before = damage_.count();
        if (auto fault = load()) {
            return fault;
        }
        return damage_.count() == before
                   ? std::nullopt
                   : std::optional{refuse_store(Errc::protocol_error, file_,
                                                "is damaged again: " + damage_.named().back())};
    }

    /// Writes the sound rows into a new file.
    std::optional<Failure> write_salvage(const fs::path& fresh, Salvaged& salvaged) {
        std::error_code ignored;
        fs::remove(fresh, ignored); // of a salvage that was interrupted
        if (auto fault = make_private_file(fresh)) {
            return fault;
        }
        DamageReport none;
        Database to{fresh.string()};
        if (auto fault = prepare_store(to, fresh, false, none)) {
            return fault;
        }
        if (!fs::exists(file_, ignored)) {
            return std::nullopt;
        }
        Database from{file_.string()};
        from.keep_log_on_close(true);
        from.run("PRAGMA locking_mode = EXCLUSIVE");
        salvaged = salvage(from, to, codec_);
        return std::nullopt;
    }

    /// The store is sound: from now on it is written.
    void accept() {
        opened_.database->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
        opened_.database->keep_log_on_close(false);
        opened_.counter = std::make_unique<CommitCounter>(counter_file(directory_));
        if (!begin_counting(count_of(read_ledger(*opened_.database).value()))) {
            core::log(LogLevel::warning, "broker", "the file '", counter_file(directory_).string(),
                      "' cannot be written: commits that get lost will not be noticed");
        }
    }

    /// Begins a run in the database and in the counter. The counter has the former run and the new
    /// one until the database has the new one, so it matches whenever the process ends.
    bool begin_counting(CommitCount former) {
        CommitCount next = former;
        next.run = draw_run();
        opened_.is_counted = opened_.counter->begin(former, next);
        try {
            begin_run(*opened_.database, opened_.is_counted ? next.run : 0);
            // Into the file itself. A cut log would take the run along.
            opened_.database->run("PRAGMA wal_checkpoint(TRUNCATE)");
        } catch (const DatabaseError& error) {
            if (error.kind() != DatabaseError::Kind::full || !has_contents(*opened_.database)) {
                throw;
            }
        }
        const auto ledger = read_ledger(*opened_.database).value();
        opened_.is_counted = opened_.is_counted && ledger.run != 0 &&
                             opened_.counter->begin(count_of(ledger), count_of(ledger));
        return opened_.is_counted;
    }

    const fs::path& directory_;
    const fs::path file_;
    const ContentCodec& codec_;
    const WallTime at_;
    DamageReport damage_;
    OpenedStore opened_;
};

} // namespace

core::Result<OpenedStore> open_store(const fs::path& directory, const ContentCodec& codec,
                                     WallTime at, OnDamage on_damage) {
    return StoreOpener{directory, codec, at}.open(on_damage);
}

} // namespace sessionq::broker
