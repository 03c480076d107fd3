// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "amqp/engine/outcome.hpp"
#include "core/intrusive_list.hpp"

namespace sessionq::amqp {

class Link;

/// The longest delivery tag (AMQP 1.0 part 2, section 2.8.7). None that is sent is longer.
inline constexpr std::size_t longest_tag = 32;
/// The longest that is taken from a peer. Azure's earlier client for Java sends tags of 36 bytes.
inline constexpr std::size_t longest_received_tag = 256;

/// An unsettled delivery, in the list of its link. Use it through a `DeliveryHandle`.
struct Delivery : core::ListHook<> {
    Link* link{nullptr};
    void* context{nullptr};
    /// Encoded, if it is more than its kind. All deliveries of a disposition share it.
    std::shared_ptr<const std::string> remote_state{};
    std::uint32_t id{0};
    std::uint32_t place{0}; ///< in the table of its session
    std::uint32_t message_format{0};
    bool is_numbered{false}; ///< it has its id: its first frame was sent or has come
    bool remote_settled{false};
    OutcomeKind remote_kind{OutcomeKind::none};
    std::uint8_t tag_size{0};
    std::array<char, longest_tag> tag{};
};

using DeliveryList = core::IntrusiveList<Delivery>;

/// A delivery on a link. Valid until it is settled by this side or its link is gone; copied freely.
class DeliveryHandle {
public:
    DeliveryHandle() = default;
    explicit DeliveryHandle(Delivery* delivery) noexcept : delivery_{delivery} {}

    [[nodiscard]] explicit operator bool() const noexcept { return delivery_ != nullptr; }
    /// Of a longer tag its first `longest_tag` bytes.
    [[nodiscard]] std::string_view tag() const noexcept {
        return {delivery_->tag.data(), delivery_->tag_size};
    }
    /// The format that the sender named.
    [[nodiscard]] std::uint32_t message_format() const noexcept {
        return delivery_->message_format;
    }

    /// The user's own pointer, null at first.
    void set_context(void* context) noexcept { delivery_->context = context; }
    [[nodiscard]] void* context() const noexcept { return delivery_->context; }

    /// The peer's present state of it.
    [[nodiscard]] Outcome remote_outcome() const;
    /// The same, encoded. All deliveries that one disposition names share it. Null: it is no more
    /// than its kind.
    [[nodiscard]] const std::shared_ptr<const std::string>& remote_state() const noexcept {
        return delivery_->remote_state;
    }
    [[nodiscard]] OutcomeKind remote_kind() const noexcept { return delivery_->remote_kind; }
    [[nodiscard]] bool remote_settled() const noexcept { return delivery_->remote_settled; }

    /// Says an outcome without settling, so that the peer may answer. False: it does not fit into a
    /// frame of the peer's size, and nothing was said.
    bool update(const Outcome& outcome);
    /// Says no more about it; the handle is dead.
    void settle();
    /// Says an outcome, and no more; the handle is dead. If the outcome does not fit into a frame
    /// of the peer's size, annotations are left out and an error is shortened.
    void settle(const Outcome& outcome);

    [[nodiscard]] Delivery* raw() const noexcept { return delivery_; }

    friend bool operator==(const DeliveryHandle&, const DeliveryHandle&) = default;

private:
    Delivery* delivery_{nullptr};
};

} // namespace sessionq::amqp
