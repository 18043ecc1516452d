# Without a preset, and with a CMake that knows none (before 3.21), `cmake -S . -B build/release` makes what the preset `release` does.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or None")
    set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2" CACHE STRING "Flags of a Release build")
    set(IDS_LTO ON CACHE BOOL "Link-time optimisation of the program")
endif()
