// The one place where the bodies of Asio's TLS are compiled, as core/asio_impl.cpp is for the rest.
#include <asio/ssl/impl/src.hpp>
