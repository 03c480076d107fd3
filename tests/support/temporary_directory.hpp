// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>

namespace sessionq::test {

/// A temporary directory, removed with this object.
class TemporaryDirectory {
public:
    explicit TemporaryDirectory(
        const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string name = (parent / "sessionq-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    /// In memory, if this machine has such a file system. For tests that write to no disk.
    static TemporaryDirectory in_memory() {
        const std::filesystem::path memory{"/dev/shm"};
        return ::access(memory.c_str(), W_OK) == 0 ? TemporaryDirectory{memory}
                                                   : TemporaryDirectory{};
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace sessionq::test
