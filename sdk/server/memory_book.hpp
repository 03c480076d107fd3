// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <sessionq/time.hpp>

#include "core/intrusive_list.hpp"
#include "server/limits.hpp"

namespace sessionq::server {

/// Decides which connection has to go because memory that is kept for peers exceeds a bound. Pure.
class MemoryBook {
public:
    explicit MemoryBook(const MemoryLimits& limits) noexcept : limits_{limits} {}
    MemoryBook(const MemoryBook&) = delete;
    MemoryBook& operator=(const MemoryBook&) = delete;

    enum class Bound { connection, unclaimed_connection, unclaimed, all };

    /// The memory that one connection takes. The book outlives it.
    class Account : public core::ListHook<Account> {
    public:
        explicit Account(MemoryBook& book) noexcept : book_{book} {
            book_.accounts_.push_back(*this);
        }
        Account(const Account&) = delete;
        Account& operator=(const Account&) = delete;

        [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
        /// The peer has proved a right.
        void claim() noexcept;

        /// Ends the connection soon because of `bound`. Its bytes count no more.
        virtual void evict(Bound bound) = 0;
        /// Releases memory that is kept for traffic to come, and returns the bytes that are taken
        /// now.
        virtual std::size_t trim() noexcept = 0;

    protected:
        virtual ~Account() { book_.remove(*this); }

    private:
        friend class MemoryBook;

        MemoryBook& book_;
        std::size_t bytes_{0};
        bool is_claimed_{false};
        bool is_leaving_{false};
    };

    /// The connection takes so much now. Evicts connections until all bounds hold. A connection is
    /// trimmed before it goes for its own bound. When more than half of all is taken, all
    /// connections are trimmed, at most once a second.
    void set(Account& account, std::size_t bytes, TimePoint now);

    [[nodiscard]] std::size_t all() const noexcept { return all_; }
    [[nodiscard]] std::size_t unclaimed() const noexcept { return unclaimed_; }

private:
    void note(Account& account, std::size_t bytes) noexcept;
    void remove(Account& account) noexcept;
    void trim(TimePoint now);
    void evict(Account& account, Bound bound);
    /// Evicts the one that takes most, the oldest of equals. Returns false if there is none.
    [[nodiscard]] bool evict_greatest(Bound bound);

    const MemoryLimits limits_;
    core::IntrusiveList<Account, Account> accounts_{}; // the oldest first
    std::size_t all_{0};
    std::size_t unclaimed_{0};
    TimePoint next_trim_{};
};

/// Names the bound and how large it is, for the peer and the log.
[[nodiscard]] std::string describe(MemoryBook::Bound bound, const MemoryLimits& limits);

} // namespace sessionq::server
