# SPDX-License-Identifier: MIT
# Pages and completions that the programs print themselves.

# sessionq_share(TARGET FILE argument...): the build runs TARGET with the arguments and keeps what
# it prints as FILE, a path below the install tree's share/. An installation takes it along.
# For example: sessionq_share(sessionqd man/man1/sessionqd.1 --man-page)
function(sessionq_share target file)
  set(output ${PROJECT_BINARY_DIR}/share/${file})
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output}
    COMMAND ${target} ${ARGN} > ${output}
    DEPENDS ${target} VERBATIM)
  string(MAKE_C_IDENTIFIER share_${file} name)
  add_custom_target(${name} ALL DEPENDS ${output})
  if(SESSIONQ_INSTALL)
    cmake_path(GET file PARENT_PATH folder)
    install(FILES ${output}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT programs)
  endif()
endfunction()
