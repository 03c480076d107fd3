// SPDX-License-Identifier: MIT
#include "support/test_certificates.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace sessionq::test {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

void must(bool done, const char* what) {
    if (!done) {
        throw std::runtime_error{std::string{"test certificates: "} + what};
    }
}

void extend(X509* certificate, X509* issuer, int kind, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
    must(extension != nullptr, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

/// `names`: the subjectAltName; null for none.
Certificate make(EVP_PKEY* key, const char* name, const char* names, X509* issuer,
                 EVP_PKEY* issuer_key, long serial) {
    Certificate made{X509_new(), &X509_free};
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 24L * 3600);
    X509_set_pubkey(made.get(), key);
    X509_NAME* subject = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509* by = issuer != nullptr ? issuer : made.get();
    X509_set_issuer_name(made.get(), X509_get_subject_name(by));
    if (issuer == nullptr) {
        extend(made.get(), by, NID_basic_constraints, "critical,CA:TRUE");
    } else if (names != nullptr) {
        extend(made.get(), by, NID_subject_alt_name, names);
    }
    must(X509_sign(made.get(), issuer_key, EVP_sha256()) != 0, "sign");
    return made;
}

void write(const std::filesystem::path& path, X509* certificate) {
    std::unique_ptr<FILE, int (*)(FILE*)> file{std::fopen(path.c_str(), "w"), &std::fclose};
    must(file && PEM_write_X509(file.get(), certificate) != 0, "write");
}

void write(const std::filesystem::path& path, EVP_PKEY* key) {
    std::unique_ptr<FILE, int (*)(FILE*)> file{std::fopen(path.c_str(), "w"), &std::fclose};
    must(file && PEM_write_PrivateKey(file.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 0,
         "write");
}

} // namespace

TestCertificates::TestCertificates() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "sessionq-test-XXXXXX").string();
    must(mkdtemp(pattern.data()) != nullptr, "mkdtemp");
    folder_ = pattern;
    const auto new_key = [] { return Key{EVP_EC_gen("P-256"), &EVP_PKEY_free}; };
    const Key ca_key = new_key();
    const Certificate ca =
        make(ca_key.get(), "sessionq test authority", nullptr, nullptr, ca_key.get(), 1);
    write(folder_ / "ca.pem", ca.get());
    long serial = 1;
    const auto issue = [&](const std::string& file, const char* name, const char* names) {
        const Key key = new_key();
        const Certificate certificate =
            make(key.get(), name, names, ca.get(), ca_key.get(), ++serial);
        write(folder_ / (file + ".pem"), certificate.get());
        write(folder_ / (file + ".key"), key.get());
    };
    issue("server", "localhost", "DNS:localhost,IP:127.0.0.1");
    issue("elsewhere", "elsewhere.example", "DNS:elsewhere.example");
    issue("nameless", "localhost", nullptr);
}

TestCertificates::~TestCertificates() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

} // namespace sessionq::test
