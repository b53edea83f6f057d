# What is installed, by the package that it belongs to: lib, dev, tools (the programs), doc.
install(TARGETS taskpool_shared EXPORT taskpool LIBRARY COMPONENT lib NAMELINK_COMPONENT dev)
install(TARGETS taskpool_static EXPORT taskpool ARCHIVE COMPONENT dev)
foreach(program taskpool taskpool-bench taskpool-console)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME COMPONENT tools)
  endif()
endforeach()
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
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.pml")
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
  foreach(section 1 7)
    install(DIRECTORY ${manual}/man${section} DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools)
  endforeach()
  install(DIRECTORY ${manual}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT dev)
  install(FILES ${manual}/taskpool.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME taskpool
          COMPONENT tools)
  install(FILES ${manual}/taskpool.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _taskpool COMPONENT tools)
  install(FILES ${manual}/taskpool.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
endif()

# The units name the program where it is installed. Nothing is started by installing them.
if(WITH_PROGRAM)
  foreach(unit taskpool@.service taskpool-check@.service taskpool-check@.timer)
    configure_file(tools/package/systemd/${unit} units/${unit} @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/units/${unit} DESTINATION lib/systemd/system COMPONENT tools)
  endforeach()
  install(FILES tools/package/systemd/taskpool.conf DESTINATION lib/sysusers.d COMPONENT tools)
  install(FILES tools/package/systemd/example.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/service COMPONENT tools)
endif()
