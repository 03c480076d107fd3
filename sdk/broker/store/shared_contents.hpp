// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include <sessionq/message_content.hpp>

namespace sessionq::broker {

/// Which contents a store holds once for several messages, and how many messages use each. The
/// numbers of users are not stored: they are counted when the store is read. Changes belong to the
/// open transaction until `keep` or `undo`.
///
/// Holds the contents: their messages are in memory anyway. For one thread at a time.
class SharedContents {
public:
    /// A content that is in the store. No message uses it yet.
    void add(std::int64_t id, MessageContentPtr content);

    /// Returns nothing if it has no content of this id.
    [[nodiscard]] MessageContentPtr content_of(std::int64_t id) const;
    /// Returns zero if the store does not have this content.
    [[nodiscard]] std::int64_t id_of(const MessageContent& content) const;

    /// One message more, or less, uses the content. No effect if there is none of this id.
    void use(std::int64_t id);
    void release(std::int64_t id);

    /// Forgets those contents that no message uses. Returns their ids.
    [[nodiscard]] std::vector<std::int64_t> take_unused();

    /// The transaction is committed.
    void keep() noexcept { former_.clear(); }
    /// The transaction was rolled back.
    void undo();

private:
    struct Content {
        MessageContentPtr content{}; ///< null: it is not in the store
        std::int64_t uses{0};
    };

    void remember(std::int64_t id);
    void put(std::int64_t id, Content content);

    std::unordered_map<std::int64_t, Content> contents_;
    std::unordered_map<const MessageContent*, std::int64_t> ids_;
    std::map<std::int64_t, Content> former_; // before the open transaction, where it changed them
};

} // namespace sessionq::broker
