// The one place where Asio's own bodies are compiled; everybody else sees declarations (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
