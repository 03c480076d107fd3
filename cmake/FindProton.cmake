# SPDX-License-Identifier: MIT
# Finds the engine of Qpid Proton-C, a peer in tests and benchmarks: target Proton::Proton.
find_path(Proton_INCLUDE_DIR proton/transport.h)
find_library(Proton_LIBRARY NAMES qpid-proton-core qpid-proton)
mark_as_advanced(Proton_INCLUDE_DIR Proton_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Proton REQUIRED_VARS Proton_LIBRARY Proton_INCLUDE_DIR)

if(Proton_FOUND AND NOT TARGET Proton::Proton)
  add_library(Proton::Proton UNKNOWN IMPORTED)
  set_target_properties(Proton::Proton PROPERTIES
    IMPORTED_LOCATION ${Proton_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Proton_INCLUDE_DIR})
endif()
