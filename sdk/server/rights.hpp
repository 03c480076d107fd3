// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sessionq::server {

/// A set of the rights that Service Bus gives to a shared access policy.
class Rights {
public:
    [[nodiscard]] static constexpr Rights none() noexcept { return Rights{0}; }
    [[nodiscard]] static constexpr Rights listen() noexcept { return Rights{1}; }
    [[nodiscard]] static constexpr Rights send() noexcept { return Rights{2}; }
    /// Implies the others. Clients of entities need no more than those: Azure asks for Listen to
    /// change rules.
    [[nodiscard]] static constexpr Rights manage() noexcept { return Rights{4}; }
    [[nodiscard]] static constexpr Rights all() noexcept { return Rights{7}; }

    [[nodiscard]] constexpr bool has_any_of(Rights other) const noexcept {
        return (bits_ & other.bits_) != 0;
    }
    friend constexpr Rights operator|(Rights one, Rights other) noexcept {
        return Rights{static_cast<std::uint8_t>(one.bits_ | other.bits_)};
    }
    friend constexpr bool operator==(Rights, Rights) noexcept = default;

private:
    explicit constexpr Rights(std::uint8_t bits) noexcept : bits_{bits} {}

    std::uint8_t bits_;
};

/// Returns the text that Service Bus sends to a client that lacks all of these rights to an entity.
[[nodiscard]] inline std::string text_of_missing(Rights rights, std::string_view entity) {
    const char* claims = rights == Rights::listen()   ? "'Listen'"
                         : rights == Rights::send()   ? "'Send'"
                         : rights == Rights::manage() ? "'Manage'"
                                                      : "'Listen', 'Send' or 'Manage'";
    return "Unauthorized access. " + std::string{claims} +
           " claim(s) are required to perform this operation. Resource: '" + std::string{entity} +
           "'.";
}

} // namespace sessionq::server
