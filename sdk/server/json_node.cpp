// SPDX-License-Identifier: MIT
#include "server/json_node.hpp"

#include <algorithm>
#include <set>

namespace sessionq::server {

using nlohmann::json;

json JsonNode::parse(std::string_view text) {
    std::vector<std::set<std::string>> open; // member names so far, for each open object
    std::string twice;
    const auto look = [&](int, json::parse_event_t event, const json& parsed) {
        if (event == json::parse_event_t::object_start) {
            open.emplace_back();
        } else if (event == json::parse_event_t::object_end) {
            open.pop_back();
        } else if (event == json::parse_event_t::key &&
                   !open.back().insert(parsed.get<std::string>()).second && twice.empty()) {
            twice = parsed.get<std::string>();
        }
        return true;
    };
    try {
        json document = json::parse(text, look, true, true);
        if (!twice.empty()) {
            throw Error{Errc::invalid_option, "duplicate member '" + twice + "' in an object"};
        }
        return document;
    } catch (const json::parse_error& error) {
        throw Error{Errc::invalid_option, "invalid JSON at byte " + std::to_string(error.byte)};
    } catch (const json::out_of_range&) {
        throw Error{Errc::invalid_option, "a number is out of range"};
    }
}

std::vector<std::string> JsonNode::expect_members(Names known, Names further) const {
    if (!value_->is_object()) {
        fail("expected an object");
    }
    std::vector<std::string> found;
    for (const auto& [name, member] : value_->items()) {
        if (std::ranges::find(known, name) != known.end()) {
            continue;
        }
        const std::string path = path_.empty() ? name : path_ + "." + name;
        if (std::ranges::find(further, name) == further.end()) {
            JsonNode{member, path}.fail("unknown member");
        }
        found.push_back(path);
    }
    return found;
}

std::optional<JsonNode> JsonNode::find(const char* member) const {
    const auto found = value_->find(member);
    return found == value_->end()
               ? std::nullopt
               : std::optional{JsonNode{*found, path_.empty() ? member : path_ + "." + member}};
}

JsonNode JsonNode::at(const char* member) const {
    if (auto found = find(member)) {
        return *std::move(found);
    }
    JsonNode{*value_, path_.empty() ? member : path_ + "." + member}.fail("required, but missing");
}

std::vector<JsonNode> JsonNode::items() const {
    if (!value_->is_array()) {
        fail("expected an array");
    }
    std::vector<JsonNode> all;
    for (std::size_t i = 0; i < value_->size(); ++i) {
        all.emplace_back((*value_)[i], path_ + "[" + std::to_string(i) + "]");
    }
    return all;
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
    if (!value_->is_object()) {
        fail("expected an object");
    }
    std::vector<std::pair<std::string, JsonNode>> all;
    for (const auto& [name, member] : value_->items()) {
        all.emplace_back(name, JsonNode{member, path_ + "." + name});
    }
    return all;
}

std::string JsonNode::text() const {
    if (!value_->is_string()) {
        fail("expected a string");
    }
    return value_->get<std::string>();
}

bool JsonNode::truth() const {
    if (!value_->is_boolean()) {
        fail("expected true or false");
    }
    return value_->get<bool>();
}

std::int64_t JsonNode::whole(std::int64_t least, std::int64_t most) const {
    const bool is_whole =
        value_->is_number_integer() &&
        !(value_->is_number_unsigned() &&
          value_->get<std::uint64_t>() >
              static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!is_whole || value_->get<std::int64_t>() < least || value_->get<std::int64_t>() > most) {
        fail("expected a whole number from " + std::to_string(least) + " to " +
             std::to_string(most));
    }
    return value_->get<std::int64_t>();
}

std::string read_name(const JsonNode& node) {
    const JsonNode name = node.at("Name");
    std::string text = name.text();
    if (text.empty()) {
        name.fail("must not be empty");
    }
    return text;
}

} // namespace sessionq::server
