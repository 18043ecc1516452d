# Script: cmake -DINPUT=x.sql -DOUTPUT=x.sql.h -P embed_sql.cmake
# One C string per line of SQL, so that the header can be read.
get_filename_component(name "${INPUT}" NAME_WE)
file(READ "${INPUT}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE "${OUTPUT}" "/* made from ${name}.sql by cmake/embed_sql.cmake */\nstatic const char ids_${name}_sql[] =\n    \"${text}\";\n")
