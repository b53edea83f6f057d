# Run by cpack on what it is about to pack: manual pages and changelogs are compressed, without the time at which that was done, as
# Debian's policy asks and RPM's builders do.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*/share/man/man*/*.[137] ${CPACK_TEMPORARY_DIRECTORY}/*/changelog.Debian
     ${CPACK_TEMPORARY_DIRECTORY}/*/doc/taskpool/CHANGELOG.md)
foreach(page ${pages})
  if(page MATCHES "CHANGELOG.md$")
    continue()
  endif()
  if(IS_SYMLINK ${page})
    continue()
  endif()
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
