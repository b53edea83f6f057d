# Makes CONSOLE_ASSETS, a C file with the page of taskpool-console (src/console/assets.h): src/console/web, and uPlot for its
# plots, where tools/console/install.sh has put it or TASKPOOL_UPLOT says where its dist is. Without it the page shows tables.
set(TASKPOOL_UPLOT "" CACHE PATH "The folder dist of uPlot, for the plots of taskpool-console")
unset(UPLOT_JS CACHE) # it may have come or gone
file(GLOB ignored CONFIGURE_DEPENDS tools/console/node_modules/uplot/dist/uPlot.iife.min.js) # then the next build configures anew
find_file(UPLOT_JS uPlot.iife.min.js NO_CACHE NO_DEFAULT_PATH
          PATHS ${TASKPOOL_UPLOT} ${CMAKE_SOURCE_DIR}/tools/console/node_modules/uplot/dist /usr/share/nodejs/uplot/dist
                /usr/share/javascript/uplot)
add_executable(embed_files tools/embed_files.c)
file(GLOB_RECURSE console_files RELATIVE ${CMAKE_SOURCE_DIR}/src/console/web CONFIGURE_DEPENDS src/console/web/*)
set(console_pairs)
set(console_sources)
foreach(file ${console_files})
  list(APPEND console_pairs ${file}=src/console/web/${file})
  list(APPEND console_sources src/console/web/${file})
endforeach()
if(UPLOT_JS)
  get_filename_component(uplot ${UPLOT_JS} DIRECTORY)
  list(APPEND console_pairs uplot.js=${UPLOT_JS} uplot.css=${uplot}/uPlot.min.css)
  if(EXISTS ${uplot}/../LICENSE)
    list(APPEND console_pairs uplot.txt=${uplot}/../LICENSE)
  endif()
  list(APPEND console_sources ${UPLOT_JS})
endif()
set(CONSOLE_ASSETS ${CMAKE_BINARY_DIR}/console_assets.c)
add_custom_command(OUTPUT ${CONSOLE_ASSETS} COMMAND embed_files ${CONSOLE_ASSETS} ${console_pairs}
                   DEPENDS embed_files ${console_sources} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Embedding the console's page")
