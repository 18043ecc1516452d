# libidsprof.so: the engine for other programs, its header, and idsprof.pc. The example is built as a user builds it, beside it.
add_library(idsprof_library SHARED lib/api/idsprof.c)
set_target_properties(idsprof_library PROPERTIES OUTPUT_NAME idsprof VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR} C_VISIBILITY_PRESET hidden)
target_link_libraries(idsprof_library PRIVATE ids_api ids_warnings)
target_include_directories(idsprof_library INTERFACE ${PROJECT_SOURCE_DIR}/include)

file(RELATIVE_PATH IDS_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/idsprof.pc.in idsprof.pc @ONLY)

install(TARGETS idsprof_library)
install(FILES include/idsprof.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/idsprof.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set_property(GLOBAL APPEND PROPERTY IDS_INSTALLED idsprof_library)

add_executable(example_report examples/report.c)
set_target_properties(example_report PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
target_link_libraries(example_report PRIVATE idsprof_library ids_warnings)
