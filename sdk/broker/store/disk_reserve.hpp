// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>

namespace sessionq::broker {

/// Disk space that is reserved for operations that must work on a full disk. For one thread at a
/// time.
class DiskReserve {
public:
    virtual ~DiskReserve() = default;

    /// Reserves the space. Returns false if there is not enough. No effect if it is reserved
    /// already.
    [[nodiscard]] virtual bool take() noexcept = 0;

    /// Frees the space. No effect if it is not reserved.
    virtual void give_up() noexcept = 0;
};

/// Reserves space with a file of `bytes` bytes. The file stays when the process ends, so the next
/// process finds its space reserved.
class ReserveFile final : public DiskReserve {
public:
    ReserveFile(std::filesystem::path file, std::uintmax_t bytes)
        : file_{std::move(file)}, bytes_{bytes} {}

    [[nodiscard]] bool take() noexcept override;
    void give_up() noexcept override;

private:
    const std::filesystem::path file_;
    const std::uintmax_t bytes_;
};

} // namespace sessionq::broker
