#include "broker/store/store_journal.hpp"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "broker/store/kept_reader.hpp"
#include "broker/store/schema.hpp"
#include "core/log.hpp"

namespace sessionq::broker {
namespace {

constexpr std::chrono::seconds retry_after{1};

} // namespace

core::Result<StoreJournal::Opened> StoreJournal::open(const std::filesystem::path& directory, std::shared_ptr<const ContentCodec> codec,
                                                      WallTime at) {
    auto database = open_store(directory);
    if (!database) {
        return database.failure();
    }
    const std::string name = store_file(directory).string();
    try {
        auto kept = read_kept(*database.value(), *codec, at);
        if (!kept) {
            return Failure{.code = kept.failure().code, .detail = "the store '" + name + "' cannot be understood: " + kept.failure().detail};
        }
        const auto last_id = static_cast<EntityId>(database.value()->number("SELECT max(id) FROM entities"));
        return Opened{.journal = std::make_shared<StoreJournal>(std::move(database).value(), std::move(codec), name, last_id),
                      .kept = std::move(kept).value()};
    } catch (const DatabaseError& error) {
        return Failure{.code = Errc::resource_exhausted, .detail = "the store '" + name + "' cannot be read: " + error.what()};
    }
}

StoreJournal::StoreJournal(std::unique_ptr<Database> database, std::shared_ptr<const ContentCodec> codec, std::string name, EntityId last_id)
    : database_{std::move(database)}, codec_{std::move(codec)}, name_{std::move(name)}, last_id_{last_id}, writer_{*database_, *codec_} {
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
        if (gathered_.changes.empty()) {
            gathered_.changes = std::move(changes);
        } else {
            std::ranges::move(changes, std::back_inserter(gathered_.changes));
        }
        is_waiting = std::exchange(is_waiting_, false);
    }
    if (is_waiting) {
        changed_.notify_one();
    }
}

void StoreJournal::when_durable(Durable done) {
    bool is_waiting = false;
    {
        const std::lock_guard lock{mutex_};
        gathered_.waiting.push_back(std::move(done));
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
        if (is_failing_.load(std::memory_order_relaxed)) {
            changed_.wait_for(lock, retry_after, [this] { return is_ending_; });
        } else {
            is_waiting_ = gathered_.empty();
            changed_.wait(lock, [this] { return is_ending_ || !gathered_.empty(); });
            is_waiting_ = false;
        }
        Gathered batch = std::exchange(gathered_, {});
        batch.mark = last();
        is_ending = is_ending_;
        lock.unlock();
        work(std::move(batch));
        lock.lock();
    }
}

void StoreJournal::work(Gathered batch) {
    for (Change& change : batch.changes) {
        pending_.add(std::move(change));
    }
    const auto failure = commit();
    if ((failure != nullptr) != is_failing()) {
        is_failing_.store(failure != nullptr, std::memory_order_relaxed);
        core::log(LogLevel::error, "broker", failure ? failure->detail : "the store '" + name_ + "' can be written again");
    }
    for (const Durable& done : batch.waiting) {
        done(batch.mark, failure.get());
    }
}

std::unique_ptr<Failure> StoreJournal::commit() {
    if (pending_.empty()) {
        return nullptr;
    }
    try {
        writer_.commit(pending_);
        pending_.clear();
        return nullptr;
    } catch (const std::exception& error) {
        return std::make_unique<Failure>(
            Failure{.code = Errc::server_busy, .detail = "the store '" + name_ + "' cannot be written: " + error.what()});
    }
}

} // namespace sessionq::broker
