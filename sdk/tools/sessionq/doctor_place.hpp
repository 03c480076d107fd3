// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "amqp/dial.hpp"
#include "amqp/sasl.hpp"
#include "groups/dialect.hpp"
#include "servicebus/token_source.hpp"
#include "tools/sessionq/options.hpp"

namespace sessionq::cli {

/// Where the broker is and who the client is, from the connection string or URL.
struct DoctorPlace {
    std::vector<amqp::Target> targets{};
    bool is_groups{false};
    amqp::SaslCredentials credentials{};
    std::string virtual_host{};                  ///< Empty: the host.
    const groups::Dialect* dialect{nullptr};     ///< That the URL names.
    detail::servicebus::TokenSourcePtr tokens{}; ///< Null: there is nothing to claim with.
    std::string key_name{};                      ///< Empty: a ready-made signature.
    std::string entity{};                        ///< Of the options, else of the connection string.
    std::vector<std::string> secrets{};          ///< Texts that no line may show.
};

/// Throws `Error` with `invalid_argument` or `invalid_option`, which name the part that is wrong.
[[nodiscard]] DoctorPlace find_place(const Shared& shared, const std::string& entity);

} // namespace sessionq::cli
