#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "broker/content_codec.hpp"
#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/store/change_set.hpp"
#include "broker/store/change_writer.hpp"
#include "broker/store/database.hpp"
#include "broker/store/disk_reserve.hpp"
#include "core/clock.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// A journal in a directory of its own. One thread takes whatever has gathered while it was at
/// work, and commits it at once: the more there is to do, the more share one visit to the disk.
///
/// When the disk refuses, nothing is confirmed, and what could not be written is tried again every
/// second together with what came of it. When it is full, the reserve is given up, with which what
/// takes from the store can still be written; it is full until, at one of the looks it has every
/// second, the reserve can be taken again. What the store itself no longer needs goes back to the
/// disk for that.
class StoreJournal final : public Journal {
public:
    struct Opened;

    /// The clock, which outlives it, says when to look for room. Fails as `open_store`, or with
    /// protocol_error where what is kept cannot be understood.
    [[nodiscard]] static core::Result<Opened> open(const std::filesystem::path& directory,
                                                   std::shared_ptr<const ContentCodec> codec,
                                                   WallTime at, const core::Clock& clock);

    /// For `open`. Throws DatabaseError, and std::system_error if no thread can be had.
    StoreJournal(std::unique_ptr<Database> database, std::shared_ptr<const ContentCodec> codec,
                 std::string name, EntityId last_id, std::unique_ptr<DiskReserve> reserve,
                 const core::Clock& clock);
    /// Writes what there is and says so to whoever waits for it.
    ~StoreJournal() override;
    StoreJournal(const StoreJournal&) = delete;
    StoreJournal& operator=(const StoreJournal&) = delete;

    [[nodiscard]] EntityId make_entity_id() override { return ++last_id_; }
    void append(std::vector<Change> changes) override;
    [[nodiscard]] Mark last() const noexcept override {
        return last_.load(std::memory_order_acquire);
    }
    void when_durable(Durable done) override;
    [[nodiscard]] bool is_failing() const noexcept override {
        return is_failing_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_full() const noexcept override {
        return is_full_.load(std::memory_order_relaxed);
    }

private:
    struct Gathered {
        std::vector<Change> changes{};
        std::vector<Durable> waiting{};
        Mark mark{0};

        [[nodiscard]] bool empty() const noexcept { return changes.empty() && waiting.empty(); }
    };

    void run();
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    void work(Gathered batch);
    [[nodiscard]] std::unique_ptr<Failure> commit();
    [[nodiscard]] std::unique_ptr<Failure> try_commit();
    void shrink() noexcept;
    void look_for_room();
    void set_full(bool is_full);

    const std::unique_ptr<Database> database_;
    const std::shared_ptr<const ContentCodec> codec_;
    const core::Clock& clock_;
    const std::string name_;
    std::atomic<EntityId> last_id_;
    std::atomic<Mark> last_{0}; // written under mutex_
    std::atomic<bool> is_failing_{false};
    std::atomic<bool> is_full_{false};
    const std::unique_ptr<DiskReserve> reserve_; // the thread's, as is what follows
    TimePoint looked_for_room_{};
    ChangeWriter writer_;
    ChangeSet pending_;
    std::mutex mutex_;
    std::condition_variable changed_;
    Gathered gathered_;      // guarded by mutex_
    bool is_waiting_{false}; // the same
    bool is_ending_{false};  // the same
    std::thread thread_;
};

struct StoreJournal::Opened {
    std::shared_ptr<StoreJournal> journal{};
    std::vector<KeptQueue> kept{};
};

} // namespace sessionq::broker
