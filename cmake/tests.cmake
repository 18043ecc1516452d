# The tests: tests/<kind>/test_<name>.{c,sh,py} becomes the ctest <kind>.<name>. C is a unit test with libcheck; a script is run by
# tests/run_one.sh. A test that cannot run here exits 77. Labels: `full` for what needs minutes or PyPI, `fast` for the rest; `slow` are those
# of the full tier that the sanitizers want to see too.
set(IDS_FULL_KINDS live peers truth)
set(IDS_BROWSER_TESTS page.compare page.live page.report page.timeline) # Chromium, led by PyPI's playwright
set(IDS_FULL_TESTS cli.growth_counts contract.contributor fault.pjrt oracle.chrome_hash oracle.db_hash golden.explain ${IDS_BROWSER_TESTS}) # half a minute or more each, most of it Python
set(IDS_SLOW_TESTS fault.damaged_cache fault.hostile_json fault.memory memory.sweep oracle.export_metrics oracle.roundtrip)
# What looks at sources or at a script only, or at times that the sanitizers change: in the sanitizer build it would see nothing else.
set(IDS_UNSANITIZED_TESTS cli.growth contract.fields contract.messages contract.release contract.requirements cuda.abi cuda.occupancy
    lint.circles lint.format lint.pointers same.compare_builds)
set(IDS_TIMED_TESTS cuda.start live.recorder_alone live.short page.timeline) # another test's load is a cause that nobody planted: they run alone, as do those of truth

# These begin first, so that none is left over for one core at the end; where tests have run before, ctest knows by itself how long they take.
set(IDS_LONG_TESTS api.library cli.growth cli.growth_counts cli.jobs cli.many_hosts cli.redact contract.contributor cuda.stacks fault.bad_input
    fault.bad_json fault.hostile_db fault.limits golden.explain golden.json golden.one_number golden.shared_facts live.capture live.memory
    oracle.chrome_hash oracle.export_metrics peers.lake peers.perfetto peers.xprof_extract same.partials unit.closure)

set(test_environment
    IDSPROF=${PROJECT_BINARY_DIR}/idsprof
    IDS_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    IDS_BUILD_DIR=${PROJECT_BINARY_DIR}
    IDS_FAILING_MALLOC=${PROJECT_BINARY_DIR}/support/failing_malloc.so
    IDS_SHORT_TIMER=${PROJECT_BINARY_DIR}/support/short_timer.so
    IDS_SANITIZE=$<BOOL:${IDS_SANITIZE}>
    IDS_FEW=$<OR:$<BOOL:${IDS_SANITIZE}>,$<BOOL:${IDS_COVERAGE}>>)

function(ids_add_test KIND FILE)
    get_filename_component(name ${FILE} NAME_WE)
    string(REGEX REPLACE "^(test|fuzz)_" "" name ${name})
    set(test ${KIND}.${name})
    if(IDS_SANITIZE AND test IN_LIST IDS_UNSANITIZED_TESTS)
        return()
    endif()
    add_test(NAME ${test} COMMAND ${PROJECT_SOURCE_DIR}/tests/run_one.sh ${ARGN})
    set(label fast)
    set(timeout 120)
    if(KIND STREQUAL oracle) # every trace there is, in Python
        set(timeout 600)
    endif()
    if(KIND IN_LIST IDS_FULL_KINDS OR test IN_LIST IDS_FULL_TESTS)
        set(label full)
        set(timeout 1200)
    endif()
    if(test IN_LIST IDS_SLOW_TESTS)
        set(label full slow)
        set(timeout 600)
    endif()
    if(test IN_LIST IDS_LONG_TESTS)
        set_tests_properties(${test} PROPERTIES COST 100)
    endif()
    if(KIND STREQUAL truth OR test IN_LIST IDS_TIMED_TESTS)
        set_tests_properties(${test} PROPERTIES RUN_SERIAL TRUE)
    endif()
    # The limit is CPU time (run_one.sh); ctest's own, by the clock, ends what hangs. The longest takes 3 minutes on an idle machine, and a
    # few that hang must not take the time of all others.
    set_tests_properties(${test} PROPERTIES LABELS "${label};${KIND}" TIMEOUT 900 SKIP_RETURN_CODE 77
                         ENVIRONMENT "${test_environment};IDS_CPU_LIMIT=${timeout}")
endfunction()

# Scripts, of any kind.
file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/test_*.sh ${PROJECT_SOURCE_DIR}/tests/*/test_*.py)
foreach(script IN LISTS scripts)
    get_filename_component(dir ${script} DIRECTORY)
    get_filename_component(kind ${dir} NAME)
    ids_add_test(${kind} ${script} ${script})
endforeach()

# Unit tests, linked with every layer.
get_property(layers GLOBAL PROPERTY IDS_LAYERS)
pkg_check_modules(CHECK IMPORTED_TARGET check)
if(NOT CHECK_FOUND)
    message(STATUS "libcheck is not installed: no unit tests")
endif()
file(GLOB units CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/test_*.c)
foreach(source IN LISTS units)
    if(CHECK_FOUND)
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unit)
        target_include_directories(${name} PRIVATE ${IDS_GENERATED_DIR})
        target_link_libraries(${name} PRIVATE ${layers} PkgConfig::CHECK ids_warnings)
        target_compile_options(${name} PRIVATE ${IDS_NO_LTO})
        target_link_options(${name} PRIVATE ${IDS_NO_LTO})
        ids_add_test(unit ${source} $<TARGET_FILE:${name}>)
    endif()
endforeach()

if(CHECK_FOUND)
    foreach(name test_archive test_run_files) # they write archives
        target_link_libraries(${name} PRIVATE PkgConfig::LIBARCHIVE)
    endforeach()
endif()

# Profiles of runs of many hosts, for cli.many_hosts.
add_executable(gen_hosts ${PROJECT_SOURCE_DIR}/bench/gen_hosts.c)
set_target_properties(gen_hosts PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/support)
target_include_directories(gen_hosts PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gen_hosts PRIVATE ids_warnings)
target_compile_options(gen_hosts PRIVATE ${IDS_NO_LTO})
target_link_options(gen_hosts PRIVATE ${IDS_NO_LTO})

# A program with a collector in it that only looks like one, for tests of the agent and the launcher. Without sanitizers, as
# profiled programs are; and theirs do not bear a fork beside other threads.
add_executable(capture_double ${PROJECT_SOURCE_DIR}/tests/support/capture_double.c)
set_target_properties(capture_double PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/support)
target_include_directories(capture_double PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(capture_double PRIVATE idsprof_agent ids_warnings)
target_compile_options(capture_double PRIVATE ${IDS_NO_LTO} -fno-sanitize=all)
target_link_options(capture_double PRIVATE ${IDS_NO_LTO} -fno-sanitize=all)

# An allocator that fails when it is told to (tests/memory). It calls the sanitizers' own, and has none of them in it.
# And timers that run out early.
foreach(preload failing_malloc short_timer)
    add_library(${preload} MODULE ${PROJECT_SOURCE_DIR}/tests/support/${preload}.c)
    set_target_properties(${preload} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/support)
    target_link_libraries(${preload} PRIVATE ${CMAKE_DL_LIBS})
    target_compile_options(${preload} PRIVATE ${IDS_NO_LTO} -fno-builtin -fno-sanitize=all)
    target_link_options(${preload} PRIVATE ${IDS_NO_LTO} -fno-sanitize=all)
endforeach()

# A PJRT plugin that is only a double, and a program that uses one (tests/pjrt), for tests of collector A.
add_library(pjrt_double MODULE ${PROJECT_SOURCE_DIR}/tests/pjrt/double.c)
add_executable(pjrt_program ${PROJECT_SOURCE_DIR}/tests/pjrt/program.c)
add_executable(pjrt_bench ${PROJECT_SOURCE_DIR}/tests/pjrt/bench.c)
set_target_properties(pjrt_double PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)
foreach(target pjrt_double pjrt_program pjrt_bench)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/support
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/support)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ids_warnings)
    target_compile_options(${target} PRIVATE ${IDS_NO_LTO})
    target_link_options(${target} PRIVATE ${IDS_NO_LTO})
endforeach()
if(TARGET test_pjrt)
    add_dependencies(test_pjrt pjrt_double)
endif()

# Fuzz targets: tests/fuzz/fuzz_<name>.c defines LLVMFuzzerTestOneInput. With IDS_FUZZ it is a fuzzer; else replay.c gives it a
# main() that feeds it each file of its corpus, which needs no Clang and is an ordinary test.
file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(source IN LISTS fuzzers)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" corpus ${name})
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    target_link_libraries(${name} PRIVATE ${layers} ids_warnings)
    if(IDS_FUZZ)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
        target_compile_options(${name} PRIVATE ${IDS_NO_LTO})
        target_link_options(${name} PRIVATE ${IDS_NO_LTO})
        ids_add_test(fuzz ${source} $<TARGET_FILE:${name}> ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus})
    endif()
endforeach()
if(IDS_FUZZ)
    # The code under test reports its edges to libFuzzer, which the link of the fuzzers alone brings.
    foreach(target IN LISTS layers)
        get_target_property(type ${target} TYPE)
        if(type STREQUAL "STATIC_LIBRARY")
            target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
        endif()
    endforeach()
endif()

# The layers hold: these fail to compile, and the layer whose business it is compiles them.
ids_probe(base_prints      LAYER base      INCLUDE stdio.h   CODE "printf(\"x\")")
ids_probe(report_prints    LAYER report    INCLUDE stdio.h   CODE "fputs(\"x\", stdout)")
ids_probe(report_renders   LAYER report    INCLUDE stdio.h   CODE "fprintf(f, \"x\")" ALLOWED)
ids_probe(render_prints    LAYER render    INCLUDE stdio.h   CODE "fputs(\"x\", stdout)")
ids_probe(render_renders   LAYER render    INCLUDE stdio.h   CODE "fprintf(f, \"x\")" ALLOWED)
ids_probe(render_files     LAYER render    INCLUDE fcntl.h   CODE "open(\"x\", O_RDONLY)")
ids_probe(io_exits         LAYER io        INCLUDE stdlib.h  CODE "exit(2)")
ids_probe(formats_strtod   LAYER formats   INCLUDE stdlib.h  CODE "strtod(\"1\", NULL)")
ids_probe(analyzers_sqlite LAYER analyzers INCLUDE sqlite3.h CODE "sqlite3_open(\"x\", NULL)")
ids_probe(formats_sqlite   LAYER formats   INCLUDE sqlite3.h CODE "sqlite3_open(\"x\", NULL)")
ids_probe(store_sqlite     LAYER store     INCLUDE sqlite3.h CODE "sqlite3_open(\"x\", NULL)" ALLOWED)
ids_probe(analyzers_files  LAYER analyzers INCLUDE fcntl.h   CODE "open(\"x\", O_RDONLY)")
ids_probe(export_files     LAYER export    INCLUDE fcntl.h   CODE "open(\"x\", O_RDONLY)")
ids_probe(io_files         LAYER io        INCLUDE fcntl.h   CODE "open(\"x\", O_RDONLY)" ALLOWED)
add_test(NAME contract.layer_includes
         COMMAND ${CMAKE_COMMAND} -DLAYER=analyzers -DALLOWED=analyzers -DSTAMP=/dev/null
                 -DFILES=${PROJECT_SOURCE_DIR}/tests/contract/forbidden_include.h
                 -P ${PROJECT_SOURCE_DIR}/cmake/check_includes.cmake)
set_tests_properties(contract.layer_includes PROPERTIES LABELS fast PASS_REGULAR_EXPRESSION "may include only analyzers")

# Collector B over libraries that only look like the driver and CUPTI (tests/cuda). Not sanitized: they are loaded by programs that
# are not.
set(stubs ${PROJECT_BINARY_DIR}/stubs)
function(ids_stub NAME FILE DIR OUTPUT)
    add_library(${NAME} SHARED ${PROJECT_SOURCE_DIR}/tests/cuda/${FILE})
    target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${NAME} PRIVATE -fno-sanitize=all -fno-lto)
    target_compile_definitions(${NAME} PRIVATE ${ARGN})
    target_link_options(${NAME} PRIVATE -fno-sanitize=all -fno-lto -Wl,-soname,${OUTPUT})
    set_target_properties(${NAME} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${stubs}/${DIR} PREFIX "" SUFFIX "" OUTPUT_NAME ${OUTPUT}
        BUILD_RPATH "${stubs}/cuda")
    target_link_libraries(${NAME} PRIVATE ids_warnings Threads::Threads ${CMAKE_DL_LIBS})
endfunction()
ids_stub(stub_cuda stub_cuda.c cuda libcuda.so.1)
ids_stub(stub_cupti13 stub_cupti.c cupti13 libcupti.so.13)
ids_stub(stub_cupti12 stub_cupti.c cupti12 libcupti.so.12 STUB_12)
ids_stub(stub_cupti_old stub_cupti.c cupti_old libcupti.so.13 STUB_OLD)
target_link_libraries(stub_cupti13 PRIVATE stub_cuda)
target_link_libraries(stub_cupti12 PRIVATE stub_cuda)
target_link_libraries(stub_cupti_old PRIVATE stub_cuda)
add_executable(stub_program ${PROJECT_SOURCE_DIR}/tests/cuda/program.c)
target_include_directories(stub_program PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(stub_program PRIVATE -fno-sanitize=all -fno-lto -Wno-missing-prototypes)
target_link_options(stub_program PRIVATE -fno-sanitize=all -fno-lto -rdynamic)
set_target_properties(stub_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${stubs} OUTPUT_NAME program BUILD_RPATH "${stubs}/cuda")
target_link_libraries(stub_program PRIVATE stub_cuda ids_warnings Threads::Threads ${CMAKE_DL_LIBS})
# The same program with the collector in it, so that the sanitizers see it work.
add_executable(stub_program_inside ${PROJECT_SOURCE_DIR}/tests/cuda/program.c)
target_compile_definitions(stub_program_inside PRIVATE STUB_INSIDE)
target_include_directories(stub_program_inside PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(stub_program_inside PRIVATE ${IDS_NO_LTO} -Wno-missing-prototypes)
target_link_options(stub_program_inside PRIVATE ${IDS_NO_LTO} -rdynamic)
set_target_properties(stub_program_inside PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${stubs} OUTPUT_NAME program_inside BUILD_RPATH "${stubs}/cuda")
target_link_libraries(stub_program_inside PRIVATE stub_cuda ids_cuda ids_agent ids_warnings Threads::Threads)
# What tests use beside the program, the collectors and the unit tests: all that tests of an installed program need built.
add_custom_target(test_support DEPENDS capture_double failing_malloc short_timer pjrt_double pjrt_program pjrt_bench
    stub_cuda stub_cupti13 stub_cupti12 stub_cupti_old stub_program stub_program_inside)
