// SPDX-License-Identifier: MIT
#include "faults/process_facts.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sessionq::faults {

std::size_t thread_count() {
    const std::filesystem::directory_iterator tasks{"/proc/self/task"};
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

std::size_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::size_t all = 0;
    std::size_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace sessionq::faults
