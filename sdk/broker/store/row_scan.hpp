// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "broker/store/database.hpp"
#include "broker/store/row_statements.hpp"

namespace sessionq::broker {

/// Reads the readable rows of a damaged table: from both ends, and between unreadable parts if the
/// keys are numbers. A break in the order of the keys counts as unreadable.
template <typename Row>
class RowScan {
public:
    using Key = std::conditional_t<
        std::is_same_v<decltype(std::declval<Row>().place_in_order()), std::string_view>,
        std::string, std::int64_t>;
    using Bound = std::optional<Key>; ///< exclusive; unset: none

    /// `entity`: reads only rows of this one, in tables that have entities. `above`, `below`: no
    /// row is outside of them, if they are known.
    RowScan(Database& database, std::optional<std::int64_t> entity, bool with_checksum,
            Bound above = {}, Bound below = {})
        : database_{database},
          entity_{entity},
          with_checksum_{with_checksum},
          above_{std::move(above)},
          below_{std::move(below)} {}

    /// Calls `use(StoredRow)` for each row, at most once. Returns whether all could be read.
    template <typename Use>
    bool run(Use use) {
        const Walk up = walk({}, {}, true, use);
        if (up.is_complete) {
            return true;
        }
        const Bound from = up.last ? up.last : above_;
        const Walk down = walk(from, {}, false, use);
        if (!down.is_complete) {
            bisect(from, down.last ? down.last : below_, use);
        }
        return false;
    }

private:
    struct Walk {
        bool is_complete{false};
        Bound last{}; ///< the last key that was read
    };
    static constexpr int most_probes = 20'000;

    /// Reads between the bounds, upwards or downwards, until the end or an error.
    template <typename Use>
    Walk walk(const Bound& above, const Bound& below, bool is_upward, Use& use) {
        Walk walk;
        std::optional<Statement> rows;
        try {
            rows.emplace(database_, query(above, below, is_upward));
        } catch (const DatabaseError&) {
            return walk;
        }
        if (entity_) {
            rows->bind(*entity_);
        }
        for (const Bound* bound : {&above, &below}) {
            if (*bound) {
                bind_key(*rows, **bound);
            }
        }
        while (const auto stored = next(*rows, walk)) {
            Key key{stored->row.place_in_order()};
            if (walk.last && (is_upward ? key <= *walk.last : key >= *walk.last)) {
                break;
            }
            walk.last = std::move(key);
            use(*stored);
        }
        return walk;
    }

    /// Returns nothing at the end, and where a row cannot be read.
    std::optional<StoredRow<Row>> next(Statement& rows, Walk& walk) const {
        try {
            walk.is_complete = !rows.step();
        } catch (const DatabaseError&) {
            return std::nullopt;
        }
        return walk.is_complete ? std::nullopt : std::optional{read_row<Row>(rows, with_checksum_)};
    }

    /// Looks for readable rows between two keys that are next to unreadable parts.
    template <typename Use>
    void bisect(const Bound& above, const Bound& below, Use& use) {
        if constexpr (std::is_same_v<Key, std::int64_t>) {
            if (!above || !below || *below - *above < 2 || ++probes_ > most_probes) {
                return;
            }
            const std::int64_t middle = *above + (*below - *above) / 2;
            const Walk down = walk(above, middle, false, use);
            if (!down.is_complete) {
                bisect(above, down.last ? down.last : middle, use);
            }
            const Walk up = walk(middle - 1, below, true, use);
            if (!up.is_complete) {
                bisect(up.last ? up.last : middle, below, use);
            }
        }
    }

    [[nodiscard]] std::string query(const Bound& above, const Bound& below, bool is_upward) const {
        const std::string key = Row::order;
        return select_rows<Row>(with_checksum_) + " WHERE 1" + (entity_ ? " AND entity = ?" : "") +
               (above ? " AND " + key + " > ?" : "") + (below ? " AND " + key + " < ?" : "") +
               " ORDER BY " + key + (is_upward ? "" : " DESC");
    }
    static void bind_key(Statement& rows, std::int64_t key) { rows.bind(key); }
    static void bind_key(Statement& rows, const std::string& key) { rows.bind_text(key); }

    Database& database_;
    const std::optional<std::int64_t> entity_;
    const bool with_checksum_;
    const Bound above_;
    const Bound below_;
    int probes_{0};
};

} // namespace sessionq::broker
