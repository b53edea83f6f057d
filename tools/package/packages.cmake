# cpack: the packages of Debian and RPM. tools/package.sh says how they are built.
set(lib_package libtaskpool${soversion})
set(revision 1)

# What Debian's policy asks of each package: its licence and what changed. Lines of changelog.Debian have a form of their own.
if(CPACK_DEB)
  string(TIMESTAMP build_date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH
  foreach(package ${lib_package} libtaskpool-dev taskpool taskpool-doc)
    configure_file(tools/package/changelog.in ${CMAKE_BINARY_DIR}/changelogs/${package} @ONLY)
  endforeach()
  file(READ LICENSE licence)
  string(REPLACE "\n\n" "\n.\n" licence "${licence}")
  string(REGEX REPLACE "\n([^\n])" "\n \\1" licence "${licence}")
  configure_file(tools/package/copyright.in ${CMAKE_BINARY_DIR}/copyright @ONLY)
  foreach(pair lib:${lib_package} dev:libtaskpool-dev tools:taskpool doc:taskpool-doc)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 component)
    list(GET pair 1 package)
    install(FILES ${CMAKE_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
    install(FILES ${CMAKE_BINARY_DIR}/changelogs/${package} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
            RENAME changelog.Debian COMPONENT ${component})
    install(FILES tools/package/lintian/${component} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${package}
            COMPONENT ${component} OPTIONAL)
  endforeach()
else()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/taskpool COMPONENT lib)
endif()
install(DIRECTORY DESTINATION /etc/taskpool COMPONENT tools)

set(CPACK_PACKAGE_NAME taskpool)
set(CPACK_PACKAGE_VENDOR "taskpool")
set(CPACK_PACKAGE_CONTACT "taskpool maintainers <maintainers@taskpool.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "task pool inside the database that an application already has")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL lib dev tools doc)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/tools/package/staged.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(about_all "taskpool puts a pool of tasks into the database that an application already has: PostgreSQL, MySQL, MariaDB, SQLite, \
Oracle, or any other with an ODBC driver. A task is a row, many workers on many machines claim tasks, and what a handler writes to that \
database is stored exactly once.")
set(CPACK_COMPONENT_LIB_DESCRIPTION "task pool in a database, over ODBC (library)\n${about_all}\nThis package has the library.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "task pool in a database, over ODBC (development files)\n${about_all}\nThis package has the headers, \
the static library, and the manual pages of the functions.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "task pool in a database, over ODBC (program and services)\n${about_all}\nThis package has the \
program taskpool, units for systemd that run workers as services, completions for shells, and the SQL scripts.")
set(CPACK_COMPONENT_DOC_DESCRIPTION "task pool in a database, over ODBC (documentation)\n${about_all}\nThis package has the pages and \
the examples.")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${revision})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CPACK_PACKAGE_CONTACT}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(own "(= ${PROJECT_VERSION}-${revision})")
set(CPACK_DEBIAN_LIB_PACKAGE_NAME ${lib_package})
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtaskpool-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${lib_package} ${own}, unixodbc-dev, uuid-dev, libglib2.0-dev")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME taskpool)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION database)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${lib_package} ${own}, tzdata")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "systemd, libsqliteodbc | odbc-postgresql | odbc-mariadb")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "taskpool-doc")
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/tools/package/deb/postinst ${CMAKE_SOURCE_DIR}/tools/package/deb/prerm
    ${CMAKE_SOURCE_DIR}/tools/package/deb/postrm)
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DOC_PACKAGE_NAME taskpool-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_RELEASE ${revision})
set(CPACK_RPM_PACKAGE_AUTOREQ ON)
set(CPACK_RPM_PACKAGE_AUTOPROV ON)
set(CPACK_RPM_LIB_PACKAGE_NAME ${lib_package})
set(CPACK_RPM_DEV_PACKAGE_NAME taskpool-devel)
set(CPACK_RPM_DEV_PACKAGE_REQUIRES "${lib_package} = ${PROJECT_VERSION}-${revision}, unixODBC-devel, libuuid-devel, glib2-devel")
set(CPACK_RPM_TOOLS_PACKAGE_NAME taskpool)
set(CPACK_RPM_TOOLS_PACKAGE_REQUIRES "${lib_package} = ${PROJECT_VERSION}-${revision}, tzdata")
set(CPACK_RPM_TOOLS_POST_INSTALL_SCRIPT_FILE ${CMAKE_SOURCE_DIR}/tools/package/rpm/post)
set(CPACK_RPM_TOOLS_PRE_UNINSTALL_SCRIPT_FILE ${CMAKE_SOURCE_DIR}/tools/package/rpm/preun)
set(CPACK_RPM_LIB_POST_INSTALL_SCRIPT_FILE ${CMAKE_SOURCE_DIR}/tools/package/rpm/ldconfig)
set(CPACK_RPM_LIB_POST_UNINSTALL_SCRIPT_FILE ${CMAKE_SOURCE_DIR}/tools/package/rpm/ldconfig)
set(CPACK_RPM_DOC_PACKAGE_NAME taskpool-doc)
set(CPACK_RPM_DOC_PACKAGE_ARCHITECTURE noarch)
foreach(component LIB DEV TOOLS DOC)
  # The same sources give the same package: no time and no machine's name of the build in it. Folders of the system are not ours.
  set(CPACK_RPM_${component}_SPEC_MORE_DEFINE "%define _buildhost reproducible\n%define use_source_date_epoch_as_buildtime 1\n\
%define clamp_mtime_to_source_date_epoch 1\n%define _build_id_links none\n%define __brp_compress %{nil}")
endforeach()
set(CPACK_RPM_SPEC_MORE_DEFINE "${CPACK_RPM_LIB_SPEC_MORE_DEFINE}")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/man/man3 /usr/share/man/man7
    /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/lib/systemd /usr/lib/systemd/system /usr/lib/sysusers.d /usr/share/licenses
    /usr/lib64/pkgconfig /usr/lib64/cmake /usr/share/doc /lib64 /usr/lib64)
include(CPack)
