// SPDX-License-Identifier: MIT
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
#include "broker/store/open_store.hpp"
#include "broker/store/room_return.hpp"
#include "broker/store/room_watch.hpp"
#include "core/clock.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

/// A journal in a directory of its own. One thread commits everything that arrived while it was
/// busy, so under load more operations share one write to the disk.
///
/// If the disk fails, nothing is confirmed. The thread retries every second, together with later
/// changes. If the disk is full, the journal frees its reserve, so that removals can still be
/// written. It stays full until it can reserve the space again; `RoomWatch` says when it tries, and
/// each time it returns unused pages of the store to the disk.
///
/// Otherwise `RoomReturn` says when the thread returns unused pages: in steps of a few
/// milliseconds, between commits, never while the disk fails.
class StoreJournal final : public Journal {
public:
    struct Opened;

    /// `clock` decides when to check for room and must outlive the journal. Fails as `open_store`
    /// does.
    [[nodiscard]] static core::Result<Opened> open(const std::filesystem::path& directory,
                                                   std::shared_ptr<const ContentCodec> codec,
                                                   WallTime at, const core::Clock& clock,
                                                   OnDamage on_damage = OnDamage::refuse);

    /// For `open`. Throws DatabaseError, and std::system_error if no thread can be started.
    StoreJournal(OpenedStore store, std::shared_ptr<const ContentCodec> codec, std::string name,
                 EntityId last_id, std::unique_ptr<DiskReserve> reserve, const core::Clock& clock);
    /// Writes all changes and answers all waiting callers.
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
    [[nodiscard]] bool is_behind() const noexcept override {
        return waiting_changes_.load(std::memory_order_relaxed) >= most_waiting_changes;
    }
    [[nodiscard]] bool is_full() const noexcept override {
        return is_full_.load(std::memory_order_relaxed);
    }

    /// The journal is behind from so many waiting changes on. They are written within about ten
    /// milliseconds. A change counts once more for each 2 KiB of a content that the change before
    /// it does not have.
    static constexpr std::size_t most_waiting_changes{1000};

private:
    struct Batch {
        std::vector<Change> changes{};
        std::vector<Durable> waiting{};
        Mark mark{0};

        [[nodiscard]] bool empty() const noexcept { return changes.empty() && waiting.empty(); }
    };

    void run();
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    void work(Batch batch);
    [[nodiscard]] std::unique_ptr<Failure> commit();
    [[nodiscard]] std::unique_ptr<Failure> try_commit();
    [[nodiscard]] std::size_t count(const std::vector<Change>& changes) noexcept;
    void count_commit();
    void shrink() noexcept;
    void check_for_room();
    void return_room();
    [[nodiscard]] FilePages pages();
    void note_full();

    const std::unique_ptr<Database> database_;
    const std::unique_ptr<CommitCounter> counter_; // used by the thread only
    const std::shared_ptr<const ContentCodec> codec_;
    const core::Clock& clock_;
    const std::string name_;
    std::atomic<EntityId> last_id_;
    std::atomic<Mark> last_{0};                   // written under mutex_
    std::atomic<std::size_t> waiting_changes_{0}; // in batch_, as counted; written under mutex_
    std::atomic<bool> is_failing_{false};
    std::atomic<bool> is_full_{false};
    const std::unique_ptr<DiskReserve> reserve_; // used by the thread only, as are the next five
    RoomWatch room_;
    RoomReturn room_return_;
    bool is_counting_;
    ChangeWriter writer_;
    ChangeSet pending_;
    std::mutex mutex_;
    std::condition_variable changed_;
    Batch batch_;                            // guarded by mutex_, as are the next three
    const MessageContent* counted_{nullptr}; // the last one; for comparison only
    bool is_waiting_{false};
    bool is_ending_{false};
    std::thread thread_;
};

struct StoreJournal::Opened {
    std::shared_ptr<StoreJournal> journal{};
    std::vector<DurableQueue> stored{};
};

} // namespace sessionq::broker
