/* no_capture.c - stands for capture, trigger and doctor in a build without IDS_CAPTURE (CMakeLists.txt). */
#include "cmd/command.h"

static const char why[] =
    "this build of idsprof reads profiles and cannot record any; on Linux the wheel, the packages and "
    "a build with -DIDS_CAPTURE=ON can";

const struct ids_command ids_capture_command = {.operands = "PROGRAM...", .lacking = why};
const struct ids_command ids_trigger_command = {.operands = "[TARGET]", .lacking = why};
const struct ids_command ids_doctor_command = {.operands = "", .lacking = why};
