include(CMakeFindDependencyMacro)
find_dependency(ODBC)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/taskpool-targets.cmake)
