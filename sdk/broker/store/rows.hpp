// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sessionq::broker {

/// The bytes of a column that is not text.
struct Blob {
    std::string_view bytes{};
};

/// The content of a message: its bytes, or the id of the row that has them for several messages.
struct ContentCell {
    std::string_view bytes{};
    std::int64_t shared{0}; ///< the id of a `ContentRow`; zero: the bytes are here
};

// A row of each table of a store, column by column. The key comes first, in `keys` columns. Texts
// and bytes are views: of the statement that read the row, or of the writer's memory.
//
// `visit` calls its argument with the name and the value of each column. `order` is the column that
// orders the rows, within their entity if they have one. `position` is the place of the table's sum
// in the ledger. `reference` is the SQL term for the id of the row that it refers to, or zero.

struct QueueRow { ///< or of a topic, or of a subscription
    static constexpr std::string_view table = "queues";
    static constexpr std::size_t position = 0;
    static constexpr int keys = 1;
    static constexpr const char* order = "id";

    std::int64_t id{0};
    std::int64_t dead_letters{0};
    std::string_view name{};
    std::int64_t kind{0};
    std::string_view options{};
    Blob declared_rules{};
    Blob rules{};

    [[nodiscard]] std::int64_t place_in_order() const noexcept { return id; }

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("id", row.id);
        visit("dead_letters", row.dead_letters);
        visit("name", row.name);
        visit("kind", row.kind);
        visit("options", row.options);
        visit("declared_rules", row.declared_rules);
        visit("rules", row.rules);
    }
};

struct EntityRow {
    static constexpr std::string_view table = "entities";
    static constexpr std::size_t position = 1;
    static constexpr int keys = 1;
    static constexpr const char* order = "id";

    std::int64_t id{0};
    std::int64_t last_sequence{0};

    [[nodiscard]] std::int64_t place_in_order() const noexcept { return id; }

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("id", row.id);
        visit("last_sequence", row.last_sequence);
    }
};

struct MessageRow {
    static constexpr std::string_view table = "messages";
    static constexpr std::size_t position = 2;
    static constexpr int keys = 2;
    static constexpr const char* order = "sequence";
    // Does not read the bytes.
    static constexpr const char* reference =
        "CASE typeof(content) WHEN 'integer' THEN content ELSE 0 END";

    std::int64_t entity{0};
    std::int64_t sequence{0};
    std::int64_t place{0};
    std::int64_t delivery_count{0};
    std::int64_t enqueued{0};
    std::optional<std::int64_t> time_to_live{};
    std::optional<std::string_view> reason{};
    std::optional<std::string_view> description{};
    ContentCell content{};
    std::string_view passed_to{};

    [[nodiscard]] std::int64_t place_in_order() const noexcept { return sequence; }

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("entity", row.entity);
        visit("sequence", row.sequence);
        visit("place", row.place);
        visit("delivery_count", row.delivery_count);
        visit("enqueued", row.enqueued);
        visit("time_to_live", row.time_to_live);
        visit("reason", row.reason);
        visit("description", row.description);
        visit("content", row.content);
        visit("passed_to", row.passed_to);
    }
};

struct SessionStateRow {
    static constexpr std::string_view table = "session_states";
    static constexpr std::size_t position = 3;
    static constexpr int keys = 2;
    static constexpr const char* order = "session_id";

    std::int64_t entity{0};
    std::string_view session_id{};
    Blob state{};

    [[nodiscard]] std::string_view place_in_order() const noexcept { return session_id; }

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("entity", row.entity);
        visit("session_id", row.session_id);
        visit("state", row.state);
    }
};

struct TakenIdRow {
    static constexpr std::string_view table = "taken_ids";
    static constexpr std::size_t position = 4;
    static constexpr int keys = 2;
    static constexpr const char* order = "message_id";

    std::int64_t entity{0};
    std::string_view message_id{};
    std::int64_t sequence{0};
    std::int64_t until{0};

    [[nodiscard]] std::string_view place_in_order() const noexcept { return message_id; }

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("entity", row.entity);
        visit("message_id", row.message_id);
        visit("sequence", row.sequence);
        visit("until", row.until);
    }
};

struct ContentRow { ///< that messages refer to
    static constexpr std::string_view table = "contents";
    static constexpr std::size_t position = 5;
    static constexpr int keys = 1;
    static constexpr const char* order = "id";

    std::int64_t id{0};
    std::int64_t enqueued{0}; ///< the deadline in the bytes counts from here
    Blob bytes{};

    [[nodiscard]] std::int64_t place_in_order() const noexcept { return id; }

    template <typename Row, typename Visit>
    static void visit(Row& row, Visit&& visit) {
        visit("id", row.id);
        visit("enqueued", row.enqueued);
        visit("bytes", row.bytes);
    }
};

} // namespace sessionq::broker
