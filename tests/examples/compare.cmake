# cmake -DPROGRAM=... -DEXPECTED=file.txt -P compare.cmake: fails unless the program prints exactly the file's text
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output RESULT_VARIABLE result)
file(READ ${EXPECTED} expected)
string(REPLACE "\r\n" "\n" output "${output}")  # of Windows
if(NOT result EQUAL 0)
  message(FATAL_ERROR "exit status ${result}")
elseif(NOT output STREQUAL expected)
  message(FATAL_ERROR "it printed\n${output}\ninstead of\n${expected}")
endif()
