// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sessionq::amqp {

class Fields;

enum class SenderSettleMode : std::uint8_t { unsettled = 0, settled = 1, mixed = 2 };
enum class ReceiverSettleMode : std::uint8_t { first = 0, second = 1 };

/// One end of a link as an attach describes it. An encoded field is a whole AMQP value; empty:
/// absent.
struct Terminus {
    bool present{true};
    bool coordinator{false}; ///< target only: it takes transactions, and has no other field
    bool dynamic{false};
    std::string address{};    ///< empty: null
    std::string filter{};     ///< source only: an encoded map
    bool copies{false};       ///< source only: its distribution-mode is `copy`
    std::string properties{}; ///< dynamic node properties: an encoded map
};

/// The fields of an attach.
struct Attach {
    std::string name{};
    Terminus source{};
    Terminus target{};
    SenderSettleMode sender_mode{SenderSettleMode::mixed};
    ReceiverSettleMode receiver_mode{ReceiverSettleMode::first};
    std::string properties{};          ///< an encoded map
    std::uint64_t max_message_size{0}; ///< zero: not limited

    /// Returns nothing if source or target break the rules of their types.
    [[nodiscard]] static std::optional<Attach> read(const Fields& fields, std::string& fault);
    /// Appends the performative.
    void write(std::string& to, std::string_view link, std::uint32_t handle,
               bool is_receiver) const;
};

} // namespace sessionq::amqp
