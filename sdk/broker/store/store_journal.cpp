// SPDX-License-Identifier: MIT
#include "broker/store/store_journal.hpp"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/store/store_files.hpp"
#include "core/log.hpp"

namespace sessionq::broker {
namespace {

constexpr std::chrono::seconds retry_after{1};

// Enough to record that a few thousand messages were completed in one commit.
constexpr std::uintmax_t reserved_bytes = std::uintmax_t{8} << 20U;

constexpr std::size_t bytes_as_one = 2048;

const MessageContent* content_of(const Change& change) noexcept {
    if (const auto* added = std::get_if<MessageAdded>(&change)) {
        return added->message.content.get();
    }
    const auto* changed = std::get_if<MessageChanged>(&change);
    return changed != nullptr ? changed->message.content.get() : nullptr;
}

} // namespace

core::Result<StoreJournal::Opened> StoreJournal::open(const std::filesystem::path& directory,
                                                      std::shared_ptr<const ContentCodec> codec,
                                                      WallTime at, const core::Clock& clock,
                                                      OnDamage on_damage) {
    auto opened = open_store(directory, *codec, at, on_damage);
    if (!opened) {
        return opened.failure();
    }
    OpenedStore store = std::move(opened).value();
    std::vector<DurableQueue> stored = std::move(store.queues);
    const std::string name = store_file(directory).string();
    try {
        const auto last_id =
            static_cast<EntityId>(store.database->number("SELECT max(id) FROM entities"));
        return Opened{.journal = std::make_shared<StoreJournal>(
                          std::move(store), std::move(codec), name, last_id,
                          std::make_unique<ReserveFile>(reserve_file(directory), reserved_bytes),
                          clock),
                      .stored = std::move(stored)};
    } catch (const DatabaseError& error) {
        return Failure{.code = Errc::resource_exhausted,
                       .detail = "the store '" + name + "' cannot be read: " + error.what()};
    }
}

StoreJournal::StoreJournal(OpenedStore store, std::shared_ptr<const ContentCodec> codec,
                           std::string name, EntityId last_id, std::unique_ptr<DiskReserve> reserve,
                           const core::Clock& clock)
    : database_{std::move(store.database)},
      counter_{std::move(store.counter)},
      codec_{std::move(codec)},
      clock_{clock},
      name_{std::move(name)},
      last_id_{last_id},
      reserve_{std::move(reserve)},
      is_counting_{store.is_counted},
      writer_{*database_, *codec_, std::move(store.contents)} {
    if (!is_counting_) {
        writer_.stop_counting();
    }
    if (!reserve_->take()) {
        note_full();
    }
    thread_ = std::thread{[this] { run(); }};
}

StoreJournal::~StoreJournal() {
    {
        const std::lock_guard lock{mutex_};
        is_ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void StoreJournal::append(std::vector<Change> changes) {
    bool is_waiting = false;
    {
        const std::lock_guard lock{mutex_};
        last_.store(last_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        waiting_changes_.store(waiting_changes_.load(std::memory_order_relaxed) + count(changes),
                               std::memory_order_relaxed);
        if (batch_.changes.empty()) {
            batch_.changes = std::move(changes);
        } else {
            std::ranges::move(changes, std::back_inserter(batch_.changes));
        }
        is_waiting = std::exchange(is_waiting_, false);
    }
    if (is_waiting) {
        changed_.notify_one();
    }
}

std::size_t StoreJournal::count(const std::vector<Change>& changes) noexcept {
    std::size_t counted = changes.size();
    for (const Change& change : changes) {
        const MessageContent* const content = content_of(change);
        if (content != nullptr && std::exchange(counted_, content) != content) {
            counted += content->bytes() / bytes_as_one;
        }
    }
    return counted;
}

void StoreJournal::when_durable(Durable done) {
    bool is_waiting = false;
    {
        const std::lock_guard lock{mutex_};
        batch_.waiting.push_back(std::move(done));
        is_waiting = std::exchange(is_waiting_, false);
    }
    if (is_waiting) {
        changed_.notify_one();
    }
}

void StoreJournal::run() {
    pthread_setname_np(pthread_self(), "sessionq-store");
    std::unique_lock lock{mutex_};
    bool is_ending = false;
    while (!is_ending) {
        wait_for_work(lock);
        Batch batch = std::exchange(batch_, {});
        waiting_changes_.store(0, std::memory_order_relaxed);
        batch.mark = last();
        is_ending = is_ending_;
        lock.unlock();
        work(std::move(batch));
        lock.lock();
    }
}

void StoreJournal::wait_for_work(std::unique_lock<std::mutex>& lock) {
    if (is_failing()) {
        changed_.wait_for(lock, retry_after, [this] { return is_ending_; });
        return;
    }
    const auto has_work = [this] { return is_ending_ || !batch_.empty(); };
    is_waiting_ = batch_.empty();
    if (is_full()) {
        changed_.wait_for(lock, retry_after, has_work);
    } else if (room_return_.is_open()) {
        changed_.wait_for(lock, RoomReturn::shortest_pause, has_work);
    } else {
        changed_.wait(lock, has_work);
    }
    is_waiting_ = false;
}

void StoreJournal::work(Batch batch) {
    for (Change& change : batch.changes) {
        pending_.add(std::move(change));
    }
    const auto failure = commit();
    if ((failure != nullptr) != is_failing()) {
        is_failing_.store(failure != nullptr, std::memory_order_relaxed);
        core::log(LogLevel::error, "broker",
                  failure ? failure->detail : "the store '" + name_ + "' can be written again");
    }
    for (const Durable& done : batch.waiting) {
        done(batch.mark, failure.get());
    }
    if (failure != nullptr) {
        return;
    }
    if (is_full()) {
        check_for_room();
    } else if (room_return_.is_due(clock_.now())) {
        return_room();
    }
}

std::unique_ptr<Failure> StoreJournal::commit() {
    if (pending_.empty()) {
        return nullptr;
    }
    auto failure = try_commit();
    if (failure && failure->code == Errc::quota_exceeded) {
        note_full();
        reserve_->give_up();
        shrink();
        failure = try_commit();
    }
    return failure;
}

std::unique_ptr<Failure> StoreJournal::try_commit() {
    const auto fail = [this](Errc code, const char* why) {
        return std::make_unique<Failure>(
            Failure{.code = code, .detail = "the store '" + name_ + "' cannot be written: " + why});
    };
    try {
        writer_.commit(pending_);
        pending_.clear();
        room_return_.on_commit(clock_.now());
        count_commit();
        return nullptr;
    } catch (const DatabaseError& error) {
        return fail(error.kind() == DatabaseError::Kind::full ? Errc::quota_exceeded
                                                              : Errc::server_busy,
                    error.what());
    } catch (const std::exception& error) {
        return fail(Errc::server_busy, error.what());
    }
}

// After the commit, so that the count is never ahead of the commits on the disk.
void StoreJournal::count_commit() {
    if (is_counting_ && !counter_->write(count_of(writer_.ledger()))) {
        is_counting_ = false;
        writer_.stop_counting();
        core::log(LogLevel::warning, "broker", "the store '", name_,
                  "' cannot count its commits: those that get lost will not be noticed");
    }
}

// A step at a time, so that no operation waits long for it.
void StoreJournal::shrink() noexcept {
    try {
        database_->run("PRAGMA incremental_vacuum(1024)");
        database_->run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (const DatabaseError&) { // NOLINT(bugprone-empty-catch): no room was gained
    }
}

void StoreJournal::return_room() {
    try {
        const FilePages before = pages();
        const TimePoint begun = clock_.now();
        const std::int64_t wanted = room_return_.pages_of_step(before, begun);
        if (room_return_.takes_checkpoint(wanted)) {
            database_->run("PRAGMA wal_checkpoint(PASSIVE)");
        } else if (wanted > 0) {
            database_->run("PRAGMA incremental_vacuum(" + std::to_string(wanted) + ")");
            const TimePoint ended = clock_.now();
            room_return_.on_step(before.unused - pages().unused, ended - begun, ended);
        }
    } catch (const DatabaseError&) {
        // The next commit names the fault of the disk.
        room_return_.on_step(0, Duration::zero(), clock_.now());
    }
}

FilePages StoreJournal::pages() {
    return {.all = database_->number("PRAGMA page_count"),
            .unused = database_->number("PRAGMA freelist_count"),
            .bytes = database_->number("PRAGMA page_size")};
}

void StoreJournal::check_for_room() {
    const TimePoint now = clock_.now();
    if (!room_.is_due(now)) {
        return;
    }
    shrink();
    if (reserve_->take()) {
        is_full_.store(false, std::memory_order_relaxed);
        room_.on_room(now);
        core::log(LogLevel::info, "broker", "the store '", name_, "' has room again");
    }
}

void StoreJournal::note_full() {
    if (is_full_.exchange(true, std::memory_order_relaxed)) {
        return;
    }
    room_.on_full(clock_.now());
    core::log(LogLevel::error, "broker", "the store '", name_,
              "' is full: operations that need room are rejected, messages can still be received "
              "and completed");
}

} // namespace sessionq::broker
