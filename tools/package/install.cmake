# What is installed, by the package that it belongs to: lib, cobol, dev, tools (the program taskpool and what it starts), console, doc.
install(TARGETS taskpool_shared EXPORT taskpool LIBRARY COMPONENT lib NAMELINK_COMPONENT dev)
install(TARGETS taskpool_static EXPORT taskpool ARCHIVE COMPONENT dev)
foreach(program taskpool taskpool-bench)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME COMPONENT tools)
  endif()
endforeach()
if(WITH_CONSOLE)
  install(TARGETS taskpool-console RUNTIME COMPONENT console)
endif()
if(WITH_COBOL)
  install(TARGETS taskpool_cobol LIBRARY COMPONENT cobol NAMELINK_COMPONENT dev)
  install(DIRECTORY include/cobol DESTINATION ${CMAKE_INSTALL_DATADIR}/taskpool COMPONENT dev FILES_MATCHING PATTERN "*.cpy")
endif()
install(FILES include/taskpool.h include/taskpool_odbc.h include/taskpool.hpp TYPE INCLUDE COMPONENT dev)
# The scripts as they lie here; of the statements those that were made of them for each dialect, whole.
install(DIRECTORY sql DESTINATION ${CMAKE_INSTALL_DATADIR}/taskpool COMPONENT tools PATTERN common EXCLUDE PATTERN words EXCLUDE
        PATTERN *.sed EXCLUDE)
install(DIRECTORY ${CMAKE_BINARY_DIR}/sql DESTINATION ${CMAKE_INSTALL_DATADIR}/taskpool COMPONENT tools)

# As they lie here, so that the pages find each other.
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
if(NOT TASKPOOL_PACKAGE) # packages have it as the file copyright
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
endif()
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png"
        PATTERN "*.pml")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS COMPONENT doc PATTERN CMakeLists.txt EXCLUDE
        PATTERN __pycache__ EXCLUDE)

install(EXPORT taskpool NAMESPACE taskpool:: FILE taskpool-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/taskpool
        COMPONENT dev)
file(RELATIVE_PATH pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(tools/package/taskpool.pc.in taskpool.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/taskpool.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
write_basic_package_version_file(taskpool-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES tools/package/taskpool-config.cmake ${CMAKE_BINARY_DIR}/taskpool-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/taskpool COMPONENT dev)

if(WITH_MANUALS)
  install(DIRECTORY ${manual}/man1 ${manual}/man7 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools PATTERN taskpool-console.1 EXCLUDE)
  install(DIRECTORY ${manual}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT dev)
  if(WITH_CONSOLE)
    install(FILES ${manual}/man1/taskpool-console.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT console)
  endif()
  function(install_completions program component)
    set(data ${CMAKE_INSTALL_DATADIR})
    install(FILES ${manual}/${program}.bash DESTINATION ${data}/bash-completion/completions RENAME ${program} COMPONENT ${component})
    install(FILES ${manual}/${program}.zsh DESTINATION ${data}/zsh/site-functions RENAME _${program} COMPONENT ${component})
    install(FILES ${manual}/${program}.fish DESTINATION ${data}/fish/vendor_completions.d COMPONENT ${component})
  endfunction()
  install_completions(taskpool tools)
  install_completions(taskpool-bench tools)
  if(WITH_CONSOLE)
    install_completions(taskpool-console console)
  endif()
endif()

# The units name the program where it is installed. Nothing is started by installing them.
function(install_units component user)
  foreach(unit ${ARGN})
    configure_file(tools/package/systemd/${unit} units/${unit} @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/units/${unit} DESTINATION lib/systemd/system COMPONENT ${component})
  endforeach()
  install(FILES tools/package/systemd/${user}.conf DESTINATION lib/sysusers.d COMPONENT ${component})
endfunction()
if(WITH_PROGRAM)
  install_units(tools taskpool taskpool@.service taskpool-check@.service taskpool-check@.timer)
  install(FILES tools/package/systemd/example.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/service COMPONENT tools)
endif()
if(WITH_CONSOLE)
  install_units(console taskpool-console taskpool-console@.service)
endif()
