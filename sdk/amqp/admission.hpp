// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/intrusive_list.hpp"

namespace sessionq::amqp {

/// How many peers a server accepts. All are above zero.
struct AdmissionLimits {
    /// Service Bus allows a namespace as many.
    std::size_t connections{5000};
    std::size_t connections_per_address{1000};
    /// Newcomers: peers that have not proved a right yet. A handshake with TLS costs about 100 KiB.
    std::size_t newcomers{128};
    /// Half of them, so that one address cannot take the place of all others.
    std::size_t newcomers_per_address{64};
    /// Peers that have no place any more and are not gone yet. Each still takes a file descriptor.
    /// Beyond it the next peers wait to be accepted.
    std::size_t leaving{1000};
};

/// Decides which peers a server accepts, and which newcomer gives way to another. Pure.
///
/// Places of newcomers never run out: of the address that has most of them, the newcomer whose last
/// step is the longest ago gives way. A step is a stage of its handshake, not a byte, so that a
/// peer that sends little gains nothing.
class Admission {
public:
    explicit Admission(AdmissionLimits limits = {}) noexcept : limits_{limits} {}
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    /// Counts of the peers of one address.
    struct Counts {
        std::size_t guests{0};
        std::size_t newcomers{0};
    };
    using Addresses = std::map<std::string, Counts, std::less<>>;

    /// A peer, from its accept to its end. It counts until it is destroyed, also where it is not
    /// welcome. The admission outlives it.
    class Guest : public core::ListHook<Guest> {
    public:
        Guest() = default;
        Guest(const Guest&) = delete;
        Guest& operator=(const Guest&) = delete;

        /// Another newcomer gets its place. Called from that one's `enter`; this must not destroy
        /// that one. It leaves now or soon.
        virtual void give_way() = 0;

    protected:
        virtual ~Guest() { leave(); }

    private:
        friend class Admission;

        void leave() noexcept {
            if (admission_ != nullptr) {
                admission_->remove(*this);
            }
        }

        Admission* admission_{nullptr};
        Addresses::iterator address_{}; // valid while it is in an admission and was welcome
        bool is_newcomer_{false};
        bool is_leaving_{false};
        bool was_welcome_{false};
    };

    enum class Answer { welcome, too_many, too_many_from_address };
    /// A peer came. One that is not welcome is leaving.
    [[nodiscard]] Answer enter(Guest& guest, std::string_view address);
    /// A newcomer has made a step.
    void step(Guest& guest) noexcept;
    /// A newcomer has proved a right.
    void trust(Guest& guest) noexcept;
    /// The guest has lost its place, and is to end soon.
    void dismiss(Guest& guest) noexcept;
    /// The guest is gone, or is handed on as another one.
    void leave(Guest& guest) noexcept { guest.leave(); }

    [[nodiscard]] const AdmissionLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] std::size_t guests() const noexcept { return guests_; }
    [[nodiscard]] std::size_t newcomers() const noexcept { return newcomers_; }
    [[nodiscard]] std::size_t leaving() const noexcept { return leaving_; }
    /// Returns true if so many peers are leaving that the next ones have to wait.
    [[nodiscard]] bool is_crowded() const noexcept { return leaving_ >= limits_.leaving; }

private:
    [[nodiscard]] Guest* oldest_of(Addresses::iterator address) const noexcept;
    [[nodiscard]] Guest* oldest_of_most() const noexcept;
    void remove(Guest& guest) noexcept;

    const AdmissionLimits limits_;
    core::IntrusiveList<Guest, Guest> waiting_{}; // the newcomers, the longest without a step first
    Addresses addresses_{};
    std::size_t guests_{0};
    std::size_t newcomers_{0};
    std::size_t leaving_{0};
};

/// Returns the address in "ADDRESS:PORT".
[[nodiscard]] constexpr std::string_view address_of(std::string_view peer) noexcept {
    return peer.substr(0, peer.rfind(':'));
}

} // namespace sessionq::amqp
