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

/// A JSON value and where it is in its document. Everything that is not as asked for throws
/// `Error{Errc::invalid_option}` with the path. For sources of this part.
class JsonNode {
public:
    JsonNode(const nlohmann::json& value, std::string path)
        : value_{&value}, path_{std::move(path)} {}

    /// A whole document; comments are allowed, a member that is there twice is not.
    [[nodiscard]] static nlohmann::json parse(std::string_view text);

    [[noreturn]] void fail(const std::string& about) const {
        throw Error{Errc::invalid_option, (path_.empty() ? "" : path_ + ": ") + about};
    }

    /// It is an object whose members are all among these.
    void expect_members(std::initializer_list<std::string_view> known) const;

    /// The member; nothing: it is not there.
    [[nodiscard]] std::optional<JsonNode> find(const char* member) const;
    /// The member, which must be there.
    [[nodiscard]] JsonNode at(const char* member) const;

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

/// The member `Name`, which must be a text that is not empty.
[[nodiscard]] std::string read_name(const JsonNode& node);

} // namespace sessionq::server
