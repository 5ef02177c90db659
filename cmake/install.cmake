# `cmake --install` puts in place the library and its headers, what find_package and pkg-config look for, and the
# command with its manual page and completions.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/firstlayer)
install(TARGETS firstlayer EXPORT firstlayer-targets FILE_SET HEADERS FILE_SET generated_headers)
install(EXPORT firstlayer-targets NAMESPACE firstlayer:: DESTINATION ${package_dir})

# Programs that link a static firstlayer link its private dependencies too.
get_target_property(firstlayer_type firstlayer TYPE)
if(firstlayer_type STREQUAL "STATIC_LIBRARY")
  set(FIRSTLAYER_IS_STATIC ON)
  set(FIRSTLAYER_PC_DEPENDENCIES "Requires: libhwy\nLibs.private: -pthread")
else()
  set(FIRSTLAYER_IS_STATIC OFF)
  set(FIRSTLAYER_PC_DEPENDENCIES "")
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/firstlayer-config.cmake.in
  ${PROJECT_BINARY_DIR}/firstlayer-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/firstlayer-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/firstlayer-config.cmake ${PROJECT_BINARY_DIR}/firstlayer-config-version.cmake
  DESTINATION ${package_dir})

# The prefix is found from where the .pc file lies, so that the installed tree can be moved.
file(RELATIVE_PATH FIRSTLAYER_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/firstlayer.pc.in ${PROJECT_BINARY_DIR}/firstlayer.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/firstlayer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET firstlayer_command)
  file(RELATIVE_PATH library_from_command ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(firstlayer_command PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_command}")
  install(TARGETS firstlayer_command)

  # The command writes its own manual page and completions, from the table that parses its flags.
  function(install_output_of_command destination file)
    set(path ${PROJECT_BINARY_DIR}/share/${file})
    add_custom_command(OUTPUT ${path} COMMAND firstlayer_command ${ARGN} > ${path} VERBATIM)
    set_property(GLOBAL APPEND PROPERTY FIRSTLAYER_COMMAND_OUTPUTS ${path})
    install(FILES ${path} DESTINATION ${destination})
  endfunction()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share)
  install_output_of_command(${CMAKE_INSTALL_MANDIR}/man1 firstlayer.1 man)
  install_output_of_command(${CMAKE_INSTALL_DATADIR}/bash-completion/completions firstlayer completion bash)
  install_output_of_command(${CMAKE_INSTALL_DATADIR}/zsh/site-functions _firstlayer completion zsh)
  install_output_of_command(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d firstlayer.fish completion fish)
  get_property(outputs GLOBAL PROPERTY FIRSTLAYER_COMMAND_OUTPUTS)
  add_custom_target(firstlayer_manual ALL DEPENDS ${outputs})
endif()
