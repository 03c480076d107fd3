// SPDX-License-Identifier: MIT
#include "core/as_result.hpp"

#include <exception>
#include <new>

namespace sessionq::core {
namespace {

// The text is so short that it needs no memory.
Failure out_of_memory() noexcept {
    return {.code = Errc::resource_exhausted, .detail = "out of memory"};
}

} // namespace

Failure caught_failure(Errc foreign) noexcept {
    try {
        try {
            throw;
        } catch (const Error& error) {
            return error.failure();
        } catch (const std::bad_alloc&) {
            return out_of_memory();
        } catch (const std::exception& other) {
            return {.code = foreign, .detail = other.what()};
        } catch (...) {
            return {.code = foreign, .detail = "an exception not derived from std::exception"};
        }
    } catch (...) { // the copy needs memory
        return out_of_memory();
    }
}

} // namespace sessionq::core
