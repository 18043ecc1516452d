# The layers, and what keeps them apart. A layer is one folder and one static library `ids_<name>`:
#   ids_layer(NAME DIR <folder> [DEPS <layers>] [LIBS <targets>] [FORBID <headers of cmake/poison>] [EXCLUDE <files>]
#             [CAPTURES <regex>])
# - linking: it links nothing but DEPS and LIBS;
# - including: its files may name only its own folder and those of DEPS (check_includes.cmake, run when one changes);
# - calling: every source of it is compiled under the forced headers FORBID.
# CAPTURES: sources whose names match are left out of a build that only reads (IDS_CAPTURE).
# Includes resolve from the root of the repository: #include "lib/base/error.h".

function(ids_layer NAME)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "DIR;CAPTURES" "DEPS;LIBS;FORBID;EXCLUDE")
    set(target ids_${NAME})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.c)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.h ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.def)
    file(GLOB texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.sql ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.js
         ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.css)
    if(arg_CAPTURES AND NOT IDS_CAPTURE)
        string(REPLACE ".*" "[^/]*" names "${arg_CAPTURES}") # a folder above may be called so
        list(FILTER sources EXCLUDE REGEX "/(${names})[.]c$")
        list(FILTER headers EXCLUDE REGEX "/(${names})[.]h$")
    endif()
    set(all_files ${sources} ${headers})
    foreach(name IN LISTS arg_EXCLUDE)
        list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/${arg_DIR}/${name})
    endforeach()
    set(deps ${arg_DEPS})
    list(TRANSFORM deps PREPEND ids_)

    set(allowed ${arg_DIR})
    foreach(dep IN LISTS deps)
        get_target_property(dir ${dep} ids_dir)
        list(APPEND allowed ${dir})
    endforeach()
    ids_check_includes(${NAME} stamp FILES ${all_files} ALLOWED ${allowed})
    set_property(GLOBAL APPEND PROPERTY IDS_LAYERS ${target})

    if(NOT sources)
        # A layer of headers alone: a library without objects. Before 3.19 these bear only properties of lower case.
        add_library(${target} INTERFACE)
        set_target_properties(${target} PROPERTIES ids_dir ${arg_DIR})
        target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR})
        target_link_libraries(${target} INTERFACE ${deps} ${arg_LIBS})
        return()
    endif()

    ids_embed_text(embedded FILES ${texts})
    add_library(${target} STATIC ${sources} ${embedded} ${stamp})
    # Hidden: libidsprof.so shows what include/idsprof.h declares and nothing else.
    set_target_properties(${target} PROPERTIES ids_dir ${arg_DIR} ids_forbid "${arg_FORBID}" C_VISIBILITY_PRESET hidden)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} PRIVATE ${IDS_GENERATED_DIR})
    target_link_libraries(${target} PUBLIC ${deps} ${arg_LIBS} PRIVATE ids_warnings)
    foreach(header IN LISTS arg_FORBID)
        target_compile_options(${target} PRIVATE --include=${PROJECT_SOURCE_DIR}/cmake/poison/${header}.h)
    endforeach()
endfunction()

# A stamp that is made anew, and so fails the build, when a file of the layer includes what it may not.
function(ids_check_includes NAME RET_STAMP)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FILES;ALLOWED")
    set(stamp ${PROJECT_BINARY_DIR}/layers/${NAME}.stamp)
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} "-DLAYER=${NAME}" "-DFILES=${arg_FILES}" "-DALLOWED=${arg_ALLOWED}" "-DSTAMP=${stamp}"
                -P ${PROJECT_SOURCE_DIR}/cmake/check_includes.cmake
        DEPENDS ${arg_FILES} ${PROJECT_SOURCE_DIR}/cmake/check_includes.cmake
        COMMENT "Checking what ${NAME} includes" VERBATIM)
    set(${RET_STAMP} ${stamp} PARENT_SCOPE)
endfunction()

# A test that CODE, compiled as a source of LAYER is, does not compile because it calls what the layer may not; or, with
# ALLOWED, that it does.
function(ids_probe NAME)
    cmake_parse_arguments(PARSE_ARGV 1 arg "ALLOWED" "LAYER;INCLUDE;CODE" "")
    get_target_property(forbid ids_${arg_LAYER} ids_forbid)
    if(NOT forbid)
        return() # no source in it yet
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 12)
        return() # does not know the attribute (forbid.h)
    endif()
    set(source ${PROJECT_BINARY_DIR}/layers/probe_${NAME}.c)
    file(GENERATE OUTPUT ${source} CONTENT "#include <${arg_INCLUDE}>\nvoid probe(FILE *f);\nvoid probe(FILE *f)\n{\n    (void)f;\n    ${arg_CODE};\n}\n")
    list(TRANSFORM forbid REPLACE "(.+)" "--include=${PROJECT_SOURCE_DIR}/cmake/poison/\\1.h")
    add_test(NAME contract.layer_${NAME}
             COMMAND ${CMAKE_C_COMPILER} -std=c11 -D_GNU_SOURCE= -w ${forbid} --include=stdio.h -fsyntax-only ${source})
    set_tests_properties(contract.layer_${NAME} PROPERTIES LABELS fast)
    if(NOT arg_ALLOWED)
        # Not WILL_FAIL, which any other error would satisfy.
        set_tests_properties(contract.layer_${NAME} PROPERTIES PASS_REGULAR_EXPRESSION "is unavailable")
    endif()
endfunction()
