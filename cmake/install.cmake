# What `cmake --install` lays down: the program, its manual, and the completion scripts that its option tables print.
file(GLOB man1 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
file(GLOB man5 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.5)
file(GLOB man7 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.7)
install(TARGETS idsprof)
install(FILES ${man1} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${man5} DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES ${man7} DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(FILES ${PROJECT_SOURCE_DIR}/lib/report/report.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/idsprof)
install(FILES LICENSE README.md docs/skill/SKILL.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

if(NOT EXISTS ${PROJECT_SOURCE_DIR}/cmd/completion.c)
    return()
endif()
# A script goes to a temporary name first: a program that cannot print it leaves no empty file to be installed.
set(dir ${PROJECT_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${dir})
foreach(shell bash zsh fish)
    add_custom_command(OUTPUT ${dir}/${shell}
        COMMAND sh -c "${CMAKE_CROSSCOMPILING_EMULATOR} '$<TARGET_FILE:idsprof>' completion ${shell} >${shell}.tmp && mv ${shell}.tmp ${shell}"
        WORKING_DIRECTORY ${dir} DEPENDS idsprof COMMENT "Printing the ${shell} completion" VERBATIM)
endforeach()
add_custom_target(completions ALL DEPENDS ${dir}/bash ${dir}/zsh ${dir}/fish)
# All that `cmake --install` wants and nothing else: a build for use, without the tests (contract.installed).
get_property(installed GLOBAL PROPERTY IDS_INSTALLED)
add_custom_target(installed DEPENDS idsprof completions ${installed})
install(FILES ${dir}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME idsprof)
install(FILES ${dir}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _idsprof)
install(FILES ${dir}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME idsprof.fish)
