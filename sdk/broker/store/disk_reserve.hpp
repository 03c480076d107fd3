#pragma once

#include <cstdint>
#include <filesystem>

namespace sessionq::broker {

/// Room that is set aside on a disk, for what must go on when there is no more. For one thread at a
/// time.
class DiskReserve {
public:
    virtual ~DiskReserve() = default;

    /// Sets it aside; false: there is not enough room. Again: no effect.
    [[nodiscard]] virtual bool take() noexcept = 0;

    /// Lets others have it. Again: no effect.
    virtual void give_up() noexcept = 0;
};

/// A file of so many bytes, which stays behind: another process finds its room set aside already.
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
