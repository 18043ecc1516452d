# ids_warnings: what our own code is compiled with, and generated code is not. Only flags that gcc and clang share, so that
# clang-tidy can read compile_commands.json of a gcc build.
option(IDS_WERROR "Warnings are errors" OFF)
option(IDS_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(IDS_COVERAGE "Count executed lines with gcov" OFF)
option(IDS_LTO "Link-time optimisation of the program" OFF)

add_library(ids_warnings INTERFACE)
target_compile_options(ids_warnings INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wimplicit-fallthrough
    -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -Werror=int-conversion
    $<$<BOOL:${IDS_WERROR}>:-Werror>)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 12)
    # These find in correct code what newer compilers do not.
    target_compile_options(ids_warnings INTERFACE -Wno-conversion -Wno-sign-conversion -Wno-missing-field-initializers
        -Wno-format-truncation)
endif()

if(IDS_SANITIZE)
    # Without recovery: a finding ends the program, so that no test can pass over one.
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # Programs at a fixed place: what UBSan knows of each access is 10 MB of pointers, which else are moved in each of the
    # ten thousands of processes that the tests start.
    add_link_options(-fsanitize=address,undefined $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

if(IDS_COVERAGE)
    # Atomic counters: decoding uses threads.
    add_compile_options(--coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()

if(IDS_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # Fat objects, because only the program is worth the time of optimising it whole: the unit tests link the plain code.
    add_compile_options(-flto=auto -ffat-lto-objects)
    set(IDS_NO_LTO -fno-lto)
elseif(IDS_LTO)
    add_compile_options(-flto)
    add_link_options(-flto)
endif()
