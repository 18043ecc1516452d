# Sources that the build makes: protobuf-c code, and SQL, scripts and styles as strings. Both land under IDS_GENERATED_DIR at the path of their
# origin: #include "formats/proto/x.pb-c.h", #include "lib/store/schema.sql.h".
set(IDS_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

# A library of the messages of DIR/*.proto. No warnings: the code is not ours. A system folder, so that its headers warn nobody.
function(ids_proto TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "DIR" "")
    file(GLOB protos CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.proto)
    if(NOT protos)
        add_library(${TARGET} INTERFACE)
        target_link_libraries(${TARGET} INTERFACE PkgConfig::PROTOBUF_C)
        return()
    endif()
    find_program(PROTOC_C protoc-c)
    file(MAKE_DIRECTORY ${IDS_GENERATED_DIR})
    foreach(proto IN LISTS protos)
        string(REGEX REPLACE "\\.proto$" ".pb-c" stem ${IDS_GENERATED_DIR}/${proto})
        add_custom_command(OUTPUT ${stem}.c ${stem}.h
            COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR} --c_out=${IDS_GENERATED_DIR} ${PROJECT_SOURCE_DIR}/${proto}
            DEPENDS ${protos} COMMENT "Generating ${proto}" VERBATIM)
        list(APPEND generated ${stem}.c ${stem}.h)
    endforeach()
    add_library(${TARGET} STATIC ${generated})
    set_target_properties(${TARGET} PROPERTIES C_VISIBILITY_PRESET hidden)
    target_compile_options(${TARGET} PRIVATE -w)
    target_include_directories(${TARGET} SYSTEM PUBLIC ${IDS_GENERATED_DIR})
    target_link_libraries(${TARGET} PUBLIC PkgConfig::PROTOBUF_C)
endfunction()

# For each FILE x.sql a header x.sql.h with `static const char ids_x_sql[]`; x.js and x.css likewise.
function(ids_embed_text RET_HEADERS)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES")
    set(headers)
    foreach(file IN LISTS arg_FILES)
        file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
        set(header ${IDS_GENERATED_DIR}/${path}.h)
        add_custom_command(OUTPUT ${header}
            COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${header} -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
            DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake COMMENT "Embedding ${path}" VERBATIM)
        list(APPEND headers ${header})
    endforeach()
    set(${RET_HEADERS} ${headers} PARENT_SCOPE)
endfunction()
