// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <sessionq/error.hpp>

namespace sessionq::server {

/// A JSON value with its path in the document. A value that is not as expected throws
/// `Error{Errc::invalid_option}` with the path. Internal to this part.
class JsonNode {
public:
    JsonNode(const nlohmann::json& value, std::string path)
        : value_{&value}, path_{std::move(path)} {}

    /// Parses a whole document. Comments are allowed, duplicate members are not.
    [[nodiscard]] static nlohmann::json parse(std::string_view text);

    [[noreturn]] void fail(const std::string& about) const {
        throw Error{Errc::invalid_option, (path_.empty() ? "" : path_ + ": ") + about};
    }

    using Names = std::initializer_list<std::string_view>;
    /// Throws unless the value is an object with known members only.
    void expect_members(Names known) const { static_cast<void>(expect_members(known, {})); }
    /// The same with further members. Returns the paths of those.
    [[nodiscard]] std::vector<std::string> expect_members(Names known, Names further) const;

    /// Returns the member, or nothing if it is absent.
    [[nodiscard]] std::optional<JsonNode> find(const char* member) const;
    /// Returns the member. Throws if it is absent.
    [[nodiscard]] JsonNode at(const char* member) const;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] bool is_object() const noexcept { return value_->is_object(); }
    [[nodiscard]] const nlohmann::json& value() const noexcept { return *value_; }
    [[nodiscard]] std::vector<JsonNode> items() const;
    [[nodiscard]] std::vector<std::pair<std::string, JsonNode>> members() const;
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool truth() const;
    [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;

private:
    const nlohmann::json* value_;
    std::string path_;
};

/// Returns the member `Name`, which must be a string that is not empty.
[[nodiscard]] std::string read_name(const JsonNode& node);

} // namespace sessionq::server
