# Script: cmake -DINPUT=x.sql -DOUTPUT=x.sql.h -P embed_text.cmake
# One C string per line of the text, so that the header can be read. Of what a page holds (x.js, x.css) also the hash, by which
# the page allows it and nothing else to run.
get_filename_component(file "${INPUT}" NAME)
string(MAKE_C_IDENTIFIER "ids_${file}" name)
file(READ "${INPUT}" text)
file(SHA256 "${INPUT}" hash)
if(file MATCHES "\\.(js|css)$")
    string(TOLOWER "${text}" lower)
    if(lower MATCHES "</(script|style)|<!--")
        message(FATAL_ERROR "${INPUT}: '</script', '</style' and '<!--' would end the element that it stands in")
    endif()
    set(hash_too "static const char ${name}_sha256[] = \"${hash}\";\n")
endif()
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "??" "?\\?" text "${text}") # no trigraphs
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE "${OUTPUT}" "/* made from ${file} by cmake/embed_text.cmake */\nstatic const char ${name}[] =\n    \"${text}\";\n${hash_too}")
