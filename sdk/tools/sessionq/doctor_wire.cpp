// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_wire.hpp"

#include <utility>

#include <asio/connect.hpp>
#include <asio/ssl/error.hpp>
#include <asio/ssl/stream.hpp>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "amqp/proxy_tunnel.hpp"
#include "amqp/socket_stream.hpp"
#include "amqp/tls_context.hpp"
#include "core/clock.hpp"
#include "tools/sessionq/doctor_certificate.hpp"

namespace sessionq::cli {
namespace {

Duration since(TimePoint start) { return core::system_clock().now() - start; }
TimePoint start_now() { return core::system_clock().now(); }

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
    return core::to_string({endpoint.address().to_string(), endpoint.port()});
}

/// As the library's handshake asks, but the certificate's faults are only noted.
void ask_for(SSL* ssl, const std::string& host) {
    asio::error_code is_name;
    asio::ip::make_address(host, is_name);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (is_name) {
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(host.c_str())); // OpenSSL's macro casts away const
        SSL_set1_host(ssl, host.c_str());
    } else {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
    }
}

TlsFacts::Outcome outcome_of(const asio::error_code& error) {
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated ||
        error == asio::error::connection_reset) {
        return TlsFacts::Outcome::closed;
    }
    return amqp::is_no_tls(error) ? TlsFacts::Outcome::no_tls : TlsFacts::Outcome::failed;
}

ConnectFacts::Outcome connect_outcome(const asio::error_code& error) {
    if (error == asio::error::connection_refused) {
        return ConnectFacts::Outcome::refused;
    }
    return error == asio::error::timed_out ? ConnectFacts::Outcome::timed_out
                                           : ConnectFacts::Outcome::failed;
}

} // namespace

WireProbe::WireProbe(const amqp::Target& target, Duration timeout)
    : target_{target},
      timeout_{timeout},
      has_proxy_{target.proxy && target.proxy->serves(target.host)},
      first_{has_proxy_ ? target.proxy->at : core::HostPort{target.host, target.port}} {}

template <typename GiveUp>
bool WireProbe::run(const bool& done, GiveUp give_up) {
    io_.restart();
    io_.run_for(timeout_);
    if (done) {
        return true;
    }
    give_up();
    io_.restart();
    io_.poll();
    return false;
}

NameFacts WireProbe::resolve() {
    NameFacts facts{.host = first_.host, .is_proxy = has_proxy_};
    const TimePoint start = start_now();
    asio::ip::tcp::resolver resolver{io_};
    bool done = false;
    resolver.async_resolve(
        first_.host, std::to_string(first_.port), asio::ip::tcp::resolver::numeric_service,
        [&](const asio::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
            done = true;
            facts.error = error ? error.message() : "";
            found_ = found;
        });
    facts.timed_out = !run(done, [&] { resolver.cancel(); });
    facts.took = since(start);
    for (const auto& entry : found_) {
        facts.addresses.push_back(entry.endpoint().address().to_string());
    }
    return facts;
}

ConnectFacts WireProbe::connect() {
    ConnectFacts facts{.where = core::to_string(first_), .is_proxy = has_proxy_};
    const TimePoint start = start_now();
    bool done = false;
    asio::error_code outcome;
    asio::async_connect(socket_, found_,
                        [&](const asio::error_code& error, const asio::ip::tcp::endpoint& peer) {
                            done = true;
                            outcome = error;
                            facts.address = error ? "" : text_of(peer);
                        });
    if (!run(done, [&] { socket_.close(); })) {
        facts.outcome = ConnectFacts::Outcome::timed_out;
    } else if (outcome) {
        facts.outcome = connect_outcome(outcome);
        facts.error = outcome.message();
    }
    facts.took = since(start);
    return facts;
}

TunnelFacts WireProbe::open_tunnel() {
    const core::HostPort place{target_.host, target_.port};
    TunnelFacts facts{.proxy = core::to_string(first_), .where = core::to_string(place)};
    const TimePoint start = start_now();
    bool done = false;
    amqp::ProxyTunnel::open(socket_, target_.proxy, place,
                            [&](const std::optional<Failure>& failure) {
                                done = true;
                                facts.failure = failure;
                            });
    if (!run(done, [&] { socket_.close(); })) {
        facts.failure =
            Failure{.code = Errc::timeout, .detail = "proxy " + facts.proxy + " did not answer"};
    }
    facts.took = since(start);
    return facts;
}

TlsFacts WireProbe::shake_hands() {
    TlsFacts facts{.host = target_.host, .where = core::to_string({target_.host, target_.port})};
    facts.now = core::system_clock().wall_now();
    const TimePoint start = start_now();
    asio::ssl::context plain{asio::ssl::context::tls_client};
    asio::ssl::stream<asio::ip::tcp::socket> stream{std::move(socket_),
                                                    target_.tls ? target_.tls->ssl : plain};
    stream.set_verify_mode(asio::ssl::verify_none);
    ask_for(stream.native_handle(), target_.host);
    bool done = false;
    asio::error_code outcome;
    stream.async_handshake(asio::ssl::stream_base::client, [&](const asio::error_code& error) {
        done = true;
        outcome = error;
    });
    if (!run(done, [&] { stream.next_layer().close(); })) {
        facts.outcome = TlsFacts::Outcome::timed_out;
    } else if (outcome) {
        facts.outcome = outcome_of(outcome);
        facts.error = outcome.message();
    } else {
        read_certificate(stream.native_handle(), facts);
    }
    facts.took = since(start);
    return facts;
}

} // namespace sessionq::cli
