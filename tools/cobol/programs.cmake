# taskpool_cobol_program(SOURCE FOLDER [FLAG...]): compiles a program in COBOL, where there is GnuCOBOL and the layer is built.
# CALL is resolved by the linker, so a name that is written wrongly is seen there. The programs find the libraries by
# LD_LIBRARY_PATH. GnuCOBOL's runtime is not built for sanitizers.
find_program(COBC cobc)
if(COBC AND TARGET taskpool_cobol AND NOT TASKPOOL_SANITIZE)
  file(GLOB copybooks CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/cobol/*.cpy)
  function(taskpool_cobol_program source folder)
    get_filename_component(name ${source} NAME_WE)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${folder}/${name}
      COMMAND ${COBC} -x -Wall -fstatic-call ${ARGN} -I ${CMAKE_SOURCE_DIR}/include/cobol -o ${folder}/${name} ${source}
              -L ${CMAKE_BINARY_DIR} -ltaskpool_cobol -Q -Wl,-rpath-link,${CMAKE_BINARY_DIR}
      DEPENDS ${source} ${copybooks} taskpool_cobol VERBATIM COMMENT "Compiling ${name}.cob")
    add_custom_target(cobol_${name} ALL DEPENDS ${folder}/${name})
  endfunction()
else()
  message(STATUS "Programs in COBOL are left out: cobc (package gnucobol) is not there, or the build is one for sanitizers")
endif()
