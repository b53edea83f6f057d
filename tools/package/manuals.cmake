# Manual pages and completions, made by tools/manual out of docs/, the public headers and the programs' own tables of options.
if(WITH_MANUALS)
  file(GLOB manual_sources CONFIGURE_DEPENDS tools/manual/*.py docs/*.md)
  set(manual_console)
  if(WITH_CONSOLE)
    set(manual_console taskpool-console)
  endif()
  set(manual ${CMAKE_BINARY_DIR}/manual)
  add_custom_command(OUTPUT ${manual}/made
                     COMMAND ${Python3_EXECUTABLE} -B tools/manual/main.py $<TARGET_FILE:taskpool> ${manual}
                     DEPENDS ${manual_sources} include/taskpool.h include/taskpool_odbc.h taskpool taskpool-bench
                             ${manual_console}
                     WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Writing manual pages and completions")
  add_custom_target(manual ALL DEPENDS ${manual}/made)
endif()
