#pragma once

#include <memory>
#include <string>

#include "core/result.hpp"

namespace sessionq::amqp {

/// How a client makes sure of whom it talks to. Files are PEM; empty: none.
struct TlsClientSettings {
    std::string ca_file{};          ///< who is trusted; none: whom the system trusts
    std::string certificate_file{}; ///< of this client, with its chain
    std::string key_file{};         ///< its key; none: in the certificate's file
    std::string
        server_name{}; ///< whose certificate is expected; none: the host's that is connected to
    bool verify{true}; ///< false: anybody's, for tests
};

/// How a server shows who it is.
struct TlsServerSettings {
    std::string certificate_file{}; ///< with its chain
    std::string key_file{};         ///< none: in the certificate's file
    std::string
        client_ca_file{}; ///< clients must show a certificate of one of these; none: they need none
};

/// What streams of one kind share: certificates, keys and whom to trust, read once.
class TlsContext;
using TlsContextPtr = std::shared_ptr<TlsContext>;

/// Fails with `invalid_option`, naming the file and what is wrong with it.
[[nodiscard]] core::Result<TlsContextPtr> make_tls(const TlsClientSettings& settings);
[[nodiscard]] core::Result<TlsContextPtr> make_tls(const TlsServerSettings& settings);

} // namespace sessionq::amqp
