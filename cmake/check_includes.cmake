# Script: cmake -DLAYER= -DFILES= -DALLOWED= -DSTAMP= -P check_includes.cmake
# Fails when one of FILES includes a file of a folder outside ALLOWED, or one by a path that does not start at the root.
cmake_minimum_required(VERSION 3.16)
foreach(file IN LISTS FILES)
    file(STRINGS "${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*\"([^\"]*)\".*" "\\1" path "${line}")
        get_filename_component(dir "${path}" DIRECTORY)
        string(REGEX REPLACE "/proto$" "" dir "${dir}") # generated from formats/proto
        if(NOT dir IN_LIST ALLOWED)
            string(REPLACE ";" ", " allowed "${ALLOWED}")
            string(APPEND errors "${file}: #include \"${path}\": the layer '${LAYER}' may include only ${allowed}\n")
        endif()
    endforeach()
endforeach()
if(errors)
    message(FATAL_ERROR "\n${errors}See CMakeLists.txt for the layers and ARCHITECTURE.md for why they are so.")
endif()
file(TOUCH "${STAMP}")
