// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "core/result.hpp"

namespace sessionq::amqp {

/// How a client authenticates its peer. Files are in PEM format; empty means none.
struct TlsClientSettings {
    std::string ca_file{};          ///< trusted authorities; empty: the system's
    std::string certificate_file{}; ///< this client's certificate with its chain
    std::string key_file{};         ///< its private key; empty: in the certificate's file
    std::string server_name{}; ///< the expected name in the certificate; empty: the host's name
    bool verify{true};         ///< false: accept any certificate, for tests
};

/// How a server identifies itself.
struct TlsServerSettings {
    std::string certificate_file{}; ///< with its chain
    std::string key_file{};         ///< empty: in the certificate's file
    std::string client_ca_file{};   ///< clients need a certificate from these authorities; empty:
                                    ///< they need none
};

/// Certificates, keys and trusted authorities that streams with the same settings share. They are
/// loaded once.
class TlsContext;
using TlsContextPtr = std::shared_ptr<TlsContext>;

/// Fails with `invalid_option`, and names the file and its fault.
[[nodiscard]] core::Result<TlsContextPtr> make_tls(const TlsClientSettings& settings);
[[nodiscard]] core::Result<TlsContextPtr> make_tls(const TlsServerSettings& settings);

} // namespace sessionq::amqp
