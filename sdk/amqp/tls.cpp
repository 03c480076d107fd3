// SPDX-License-Identifier: MIT
#include "amqp/tls.hpp"

#include <openssl/ssl.h>

#include "amqp/tls_context.hpp"

namespace sessionq::amqp {
namespace {

using asio::ssl::context;

/// Collects the first fault in the files of a context.
class Loader {
public:
    /// Names the settings as its user does.
    struct Names {
        const char* authorities;
        const char* certificate;
        const char* key;
    };

    Loader(context& ssl, Names names) : ssl_{ssl}, names_{names} {}

    void trust(const std::string& file) {
        asio::error_code error;
        ssl_.load_verify_file(file, error);
        note(names_.authorities, file, error);
    }
    void trust_system() {
        asio::error_code error;
        ssl_.set_default_verify_paths(error);
        note("ca_file is empty, and the system's authorities", "", error);
    }
    void show(const std::string& certificate, const std::string& key) {
        asio::error_code error;
        ssl_.use_certificate_chain_file(certificate, error);
        note(names_.certificate, certificate, error);
        const std::string& key_file = key.empty() ? certificate : key;
        error = {};
        ssl_.use_private_key_file(key_file, context::pem, error);
        note(names_.key, key_file, error);
    }
    [[nodiscard]] const std::string& wrong() const noexcept { return wrong_; }

private:
    void note(std::string_view what, const std::string& file, const asio::error_code& error) {
        if (error && wrong_.empty()) {
            wrong_ = std::string{what} + " '" + file + "': " + error.message();
        }
    }

    context& ssl_;
    const Names names_;
    std::string wrong_{};
};

void restrict(context& ssl) {
    ssl.set_options(context::default_workarounds | context::no_sslv2 | context::no_sslv3 |
                    context::no_tlsv1 | context::no_tlsv1_1);
    SSL_CTX_set_mode(ssl.native_handle(), SSL_MODE_RELEASE_BUFFERS); // idle streams keep no buffers
}

core::Result<TlsContextPtr> finished(TlsContextPtr made, const Loader& loader) {
    if (!loader.wrong().empty()) {
        return Failure{.code = Errc::invalid_option, .detail = loader.wrong()};
    }
    return made;
}

} // namespace

core::Result<TlsContextPtr> make_tls(const TlsClientSettings& settings) {
    auto made = std::make_shared<TlsContext>(context::tls_client);
    restrict(made->ssl);
    made->server_name = settings.server_name;
    made->verify = settings.verify;
    made->ssl.set_verify_mode(settings.verify ? asio::ssl::verify_peer : asio::ssl::verify_none);
    Loader loader{made->ssl, {"ca_file", "certificate_file", "key_file"}};
    if (!settings.ca_file.empty()) {
        loader.trust(settings.ca_file);
    } else if (settings.verify) {
        loader.trust_system();
    }
    if (!settings.certificate_file.empty()) {
        loader.show(settings.certificate_file, settings.key_file);
    }
    return finished(std::move(made), loader);
}

core::Result<TlsContextPtr> make_tls(const TlsServerSettings& settings) {
    auto made = std::make_shared<TlsContext>(context::tls_server);
    restrict(made->ssl);
    Loader loader{made->ssl, {"TLS certificate authorities", "TLS certificate", "TLS key"}};
    loader.show(settings.certificate_file, settings.key_file);
    if (!settings.client_ca_file.empty()) {
        loader.trust(settings.client_ca_file);
        made->ssl.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    return finished(std::move(made), loader);
}

} // namespace sessionq::amqp
