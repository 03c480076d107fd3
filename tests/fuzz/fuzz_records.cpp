// SPDX-License-Identifier: MIT
// Record files from outside, in JSON Lines or CSV. Each record has its session id, or the error
// names the line.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "replay/input_error.hpp"
#include "replay/record_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    // The first byte chooses the file's extension.
    const std::string path = "fuzz_records." + std::to_string(::getpid()) +
                             (data[0] % 3 == 0   ? ".csv"
                              : data[0] % 3 == 1 ? ".jsonl"
                                                 : ".data");
    std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(data + 1),
                                                static_cast<std::streamsize>(size - 1));
    try {
        replay::RecordReader reader{path, "id"};
        replay::Record record;
        while (reader.next(record)) {
            if (record.body.empty() || record.session_id.size() > 4 * 128) {
                std::abort();
            }
        }
    } catch (const replay::InputError& error) {
        if (std::string{error.what()}.empty()) {
            std::abort();
        }
    }
    ::unlink(path.c_str());
    return 0;
}
