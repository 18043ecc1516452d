# What is loaded into profiled programs. In the build tree it lies under lib/idsprof beside the program, as it does when installed,
# so that `idsprof capture` works from both.
set(IDS_HOME_BUILD ${PROJECT_BINARY_DIR}/lib/idsprof)
set(IDS_HOME_INSTALL ${CMAKE_INSTALL_LIBDIR}/idsprof)
# How the installed program finds it: from the folder it lies in, so that an installation can be moved.
file(RELATIVE_PATH IDS_HOME_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/idsprof)
foreach(layer IN ITEMS ids_capture ids_cmd)
    target_compile_definitions(${layer} PRIVATE IDS_HOME_FROM_BIN="${IDS_HOME_FROM_BIN}")
endforeach()

# ids_preload(NAME SOURCES <files> MAP <export map> [LIBS <targets>]): lib<NAME>.so, without sanitizers, coverage or link-time
# optimisation whatever the preset is: it runs inside a Python of somebody else. Hidden visibility; what MAP names is exported;
# glibc.h keeps it loadable with older C libraries (contract.agent_symbols).
function(ids_preload NAME)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAP" "SOURCES;LIBS")
    list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
    add_library(${NAME} SHARED ${arg_SOURCES})
    target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${NAME} PRIVATE --include=${PROJECT_SOURCE_DIR}/collectors/common/glibc.h
        -fvisibility=hidden -fno-lto -fno-sanitize=all -fno-profile-arcs -fno-test-coverage)
    target_link_options(${NAME} PRIVATE -fno-lto -fno-sanitize=all -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now -Wl,--as-needed
        -Wl,--version-script=${PROJECT_SOURCE_DIR}/${arg_MAP})
    set_target_properties(${NAME} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${IDS_HOME_BUILD} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_MAP}
        BUILD_RPATH "\$ORIGIN" BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "\$ORIGIN")
    # Before glibc 2.34 threads and dlsym are not in libc.
    target_link_libraries(${NAME} PRIVATE ids_warnings ${arg_LIBS} Threads::Threads ${CMAKE_DL_LIBS})
    install(TARGETS ${NAME} LIBRARY DESTINATION ${IDS_HOME_INSTALL})
    set_property(GLOBAL APPEND PROPERTY IDS_INSTALLED ${NAME})
endfunction()

ids_preload(idsprof_agent MAP collectors/common/agent.map SOURCES
    collectors/common/agent.c collectors/common/cells.c collectors/common/control.c collectors/common/core_users.c collectors/common/hello.c collectors/common/history.c
    collectors/common/judging.c collectors/common/machine_load.c collectors/common/plan.c
    collectors/common/other_threads.c collectors/common/own_file.c collectors/common/own_memory.c collectors/common/process.c collectors/common/publish.c collectors/common/python_code.c
    collectors/common/thread_waits.c collectors/common/python_threads.c collectors/common/task_files.c collectors/common/thread_clock.c collectors/common/python_layout.c collectors/common/python_names.c collectors/common/python_source.c collectors/common/python_stack.c
    collectors/common/recorder.c
    collectors/common/sampled_names.c collectors/common/sampled_slices.c collectors/common/samples.c
    collectors/common/sampling_pace.c collectors/common/secrets.c collectors/common/session.c collectors/common/spells.c
    collectors/common/stacks.c collectors/common/stacks_plane.c
    collectors/common/window.c collectors/common/xspace_lines.c collectors/common/xspace_out.c
    collectors/python/annotations.c collectors/python/executions.c collectors/python/hidden.c
    collectors/python/signals.c)

# The Python hook: a link in the build tree, so that what is edited is what runs.
file(MAKE_DIRECTORY ${IDS_HOME_BUILD})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/collectors/python ${IDS_HOME_BUILD}/python SYMBOLIC)
install(DIRECTORY collectors/python/ DESTINATION ${IDS_HOME_INSTALL}/python FILES_MATCHING PATTERN "*.py"
        PATTERN __pycache__ EXCLUDE)
# For those who cannot write there: compiling sitecustomize.py anew at every start takes more than all that it does.
find_program(IDS_PYTHON3 python3)
if(IDS_PYTHON3)
    install(CODE "execute_process(COMMAND ${IDS_PYTHON3} -m compileall -q \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${IDS_HOME_INSTALL}/python\")")
endif()

# Collector A: stands for a PJRT plugin.
ids_preload(idsprof_pjrt MAP collectors/pjrt/pjrt.map LIBS idsprof_agent SOURCES
    collectors/common/xspace_out.c collectors/pjrt/audit.c collectors/pjrt/calls.c collectors/pjrt/collectives.c
    collectors/pjrt/describe.c
    collectors/pjrt/interposer.c collectors/pjrt/plugin.c collectors/pjrt/profiler.c collectors/pjrt/programs.c
    collectors/pjrt/record.c collectors/pjrt/runs.c collectors/pjrt/session.c collectors/pjrt/space.c
    collectors/pjrt/table.c)

# Collector B: loaded by the CUDA driver and by NVTX. It needs no CUDA toolkit to be built.
ids_preload(idsprof_cuda MAP collectors/cuda/cuda.map LIBS idsprof_agent SOURCES
    collectors/cuda/buffers.c collectors/cuda/calls.c collectors/cuda/cupti.c collectors/cuda/device.c collectors/cuda/injection.c
    collectors/cuda/nvtx.c collectors/cuda/nvtx_steps.c collectors/cuda/occupancy.c collectors/cuda/planes.c collectors/cuda/records.c collectors/cuda/session.c
    collectors/common/xspace_out.c lib/occupancy/occupancy.c)
