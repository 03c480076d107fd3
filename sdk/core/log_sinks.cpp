// SPDX-License-Identifier: MIT
#include <sessionq/logging.hpp>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/peer_words.hpp"
#include "core/rfc3339.hpp"

namespace sessionq::inline v1 {
namespace {

void write_to_standard_error(std::string_view line) {
    std::string whole{line};
    whole += '\n';
    std::fwrite(whole.data(), 1, whole.size(), stderr);
}

nlohmann::ordered_json to_json(const LogField& field) {
    std::int64_t number = 0;
    const char* const end = field.value.data() + field.value.size();
    const auto read = std::from_chars(field.value.data(), end, number);
    return field.is_number && read.ec == std::errc{} && read.ptr == end
               ? nlohmann::ordered_json(number)
               : nlohmann::ordered_json(field.value);
}

LogLineWriter writer_of(LogLineWriter write) {
    return write ? std::move(write) : LogLineWriter{write_to_standard_error};
}

} // namespace

LogSink text_log_sink(LogLineWriter write) {
    return [write = writer_of(std::move(write))](const LogRecord& record) {
        std::string line{"sessionq "};
        line.append(to_string(record.level)).append(" [").append(record.component).append("] ");
        if (record.repeated != 0) {
            line.append(std::to_string(record.repeated)).append(" more, the last: ");
        }
        write(line.append(record.text));
    };
}

LogSink json_log_sink(LogLineWriter write) {
    return [write = writer_of(std::move(write))](const LogRecord& record) {
        nlohmann::ordered_json line{{"time", core::rfc3339(record.time)},
                                    {"level", to_string(record.level)},
                                    {"component", record.component}};
        if (!record.event.empty()) {
            line["event"] = record.event;
        }
        line["text"] = record.text;
        for (const LogField& field : record.fields) {
            line[std::string{field.name}] = to_json(field);
        }
        if (record.repeated != 0) {
            line["repeated"] = record.repeated;
        }
        write(core::escape_peer_words(
            line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
    };
}

} // namespace sessionq::inline v1
