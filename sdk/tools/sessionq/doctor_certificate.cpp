// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_certificate.hpp"

#include <ctime>
#include <memory>

#include <asio/ip/address.hpp>
#include <openssl/bio.h>
#include <openssl/x509v3.h>

#include "core/peer_words.hpp"

namespace sessionq::cli {
namespace {

std::string name_text(const X509_NAME* name) {
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> memory{BIO_new(BIO_s_mem()), BIO_free_all};
    if (name == nullptr || memory == nullptr ||
        X509_NAME_print_ex(memory.get(), name, 0, XN_FLAG_RFC2253) < 0) {
        return {};
    }
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &bytes);
    return core::peer_words({bytes, static_cast<std::size_t>(size)});
}

WallTime wall_time_of(const ASN1_TIME* time) {
    std::tm broken{};
    if (time == nullptr || ASN1_TIME_to_tm(time, &broken) != 1) {
        return {};
    }
    return WallTime{std::chrono::seconds{::timegm(&broken)}};
}

std::string address_text(const ASN1_OCTET_STRING& octets) {
    const unsigned char* const bytes = ASN1_STRING_get0_data(&octets);
    asio::ip::address_v4::bytes_type four{};
    asio::ip::address_v6::bytes_type six{};
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(&octets));
    if (size == four.size()) {
        std::copy_n(bytes, four.size(), four.begin());
        return asio::ip::make_address_v4(four).to_string();
    }
    if (size == six.size()) {
        std::copy_n(bytes, six.size(), six.begin());
        return asio::ip::make_address_v6(six).to_string();
    }
    return {};
}

std::vector<std::string> alternative_names(const X509* certificate) {
    std::vector<std::string> texts;
    const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names{
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
        GENERAL_NAMES_free};
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type == GEN_DNS) {
            const auto* const bytes =
                reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
            texts.push_back(core::peer_words(
                {bytes, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName))}));
        } else if (name->type == GEN_IPADD) {
            texts.push_back(address_text(*name->d.iPAddress));
        }
    }
    return texts;
}

TlsFacts::Outcome trust_of(long verdict) {
    switch (verdict) {
    case X509_V_OK: return TlsFacts::Outcome::trusted;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return TlsFacts::Outcome::wrong_name;
    case X509_V_ERR_CERT_HAS_EXPIRED: return TlsFacts::Outcome::expired;
    case X509_V_ERR_CERT_NOT_YET_VALID: return TlsFacts::Outcome::not_yet_valid;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return TlsFacts::Outcome::unknown_authority;
    default: return TlsFacts::Outcome::untrusted;
    }
}

} // namespace

void read_certificate(SSL* ssl, TlsFacts& facts) {
    facts.version = SSL_get_version(ssl);
    const long verdict = SSL_get_verify_result(ssl);
    facts.outcome = trust_of(verdict);
    facts.error = verdict == X509_V_OK ? "" : X509_verify_cert_error_string(verdict);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate{SSL_get1_peer_certificate(ssl),
                                                                  X509_free};
    if (certificate == nullptr) {
        facts.outcome = TlsFacts::Outcome::untrusted;
        facts.error = "the peer has no certificate";
        return;
    }
    facts.subject = name_text(X509_get_subject_name(certificate.get()));
    facts.issuer = name_text(X509_get_issuer_name(certificate.get()));
    facts.valid_from = wall_time_of(X509_get0_notBefore(certificate.get()));
    facts.valid_until = wall_time_of(X509_get0_notAfter(certificate.get()));
    facts.names = alternative_names(certificate.get());
}

} // namespace sessionq::cli
