// SPDX-License-Identifier: MIT
#include "json_line.hpp"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

namespace replay {

namespace {

using nlohmann::json;

/// Receives the parser's events. Keeps the wanted fields and builds no tree.
class FieldFinder : public nlohmann::json_sax<json> {
public:
    FieldFinder(std::span<const std::string> names, std::span<std::string> values)
        : names_{names}, values_{values}, found_(names.size(), false) {}

    [[nodiscard]] std::string complaint() const {
        if (!complaint_.empty()) {
            return complaint_;
        }
        const auto missing = std::find(found_.begin(), found_.end(), false);
        return missing == found_.end()
                   ? std::string{}
                   : "no field '" + names_[static_cast<std::size_t>(missing - found_.begin())] +
                         "'";
    }

    bool null() override { return unusable("null"); }
    bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
    bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
    bool string(string_t& value) override { return scalar(value); }
    bool binary(binary_t&) override { return unusable("binary"); }

    bool key(string_t& name) override {
        if (depth_ == 1) {
            const auto at = std::find(names_.begin(), names_.end(), name);
            wanted_ = static_cast<std::size_t>(at - names_.begin());
        }
        return true;
    }

    bool start_object(std::size_t) override {
        if (depth_ == 1 && !unusable("an object")) {
            return false;
        }
        ++depth_;
        return true;
    }
    bool end_object() override { return leave(); }
    bool start_array(std::size_t) override {
        if (depth_ == 0) {
            return not_an_object();
        }
        if (depth_ == 1 && !unusable("an array")) {
            return false;
        }
        ++depth_;
        return true;
    }
    bool end_array() override { return leave(); }

    bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
        complaint_ = "broken JSON at column " + std::to_string(position);
        return false;
    }

private:
    bool scalar(std::string_view text) {
        if (depth_ == 0) {
            return not_an_object();
        }
        if (depth_ == 1 && wanted_ < names_.size()) {
            values_[wanted_] = text;
            found_[wanted_] = true;
        }
        return true;
    }

    bool unusable(const char* what) {
        if (depth_ == 0) {
            return not_an_object();
        }
        if (depth_ == 1 && wanted_ < names_.size()) {
            complaint_ = "field '" + names_[wanted_] + "' is " + what +
                         "; expected a string, number or boolean";
            return false;
        }
        return true;
    }

    bool not_an_object() {
        complaint_ = "not a JSON object";
        return false;
    }

    bool leave() {
        --depth_;
        return true;
    }

    std::span<const std::string> names_;
    std::span<std::string> values_;
    std::vector<bool> found_;
    std::size_t wanted_{0};
    std::size_t depth_{0};
    std::string complaint_;
};

} // namespace

std::string read_json_line(std::string_view line, std::span<const std::string> names,
                           std::span<std::string> values) {
    FieldFinder finder{names, values};
    json::sax_parse(line, &finder);
    return finder.complaint();
}

} // namespace replay
