// SPDX-License-Identifier: MIT
#include "broker/store/disk_reserve.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

namespace sessionq::broker {

bool ReserveFile::take() noexcept {
    const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return false;
    }
    const bool is_taken = ::posix_fallocate(file, 0, static_cast<off_t>(bytes_)) == 0;
    ::close(file);
    if (!is_taken) {
        give_up(); // part of the file may have been written
    }
    return is_taken;
}

void ReserveFile::give_up() noexcept {
    std::error_code not_there;
    std::filesystem::remove(file_, not_there);
}

} // namespace sessionq::broker
