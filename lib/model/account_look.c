#include "lib/model/account_look.h"

#define GREEN "\033[32m"
#define MAGENTA "\033[35m"
#define BLUE "\033[34m"
#define CYAN "\033[36m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define GREY "\033[90m"

/* A hue for each family, as a terminal has it; shades inside of one lie apart in lightness, so that neighbours can be
 * told without seeing hues. */
static const struct ids_account_look looks[IDS_ACCOUNT_COUNT + 1] = {
    [IDS_WORK_COMPUTE] = {"#3d9a50", "#4fae62", GREEN},  [IDS_COMM_TRANSFER] = {"#7b4fc0", "#9d78e0", MAGENTA},
    [IDS_COMM_WAIT] = {"#c5a2ea", "#65489c", MAGENTA},   [IDS_COPY_H2D] = {"#2b6fcb", "#5c9cf2", BLUE},
    [IDS_COPY_D2H] = {"#6aa5ee", "#2f6dbd", BLUE},       [IDS_COPY_D2D] = {"#174a8f", "#9cc4fa", BLUE},
    [IDS_COPY_P2P] = {"#4587dd", "#4584d8", BLUE},       [IDS_COPY_SET] = {"#a9cbf5", "#244f88", BLUE},
    [IDS_COPY_OTHER] = {"#88a4c4", "#6f8fb4", BLUE},     [IDS_STALL_DEVICE] = {"#1e9a9a", "#35bcbc", CYAN},
    [IDS_HOST_COMPILE] = {"#cc3d36", "#f0685f", RED},    [IDS_HOST_INPUT] = {"#e07b1f", "#f29a48", YELLOW},
    [IDS_HOST_SYNC] = {"#c29200", "#e3b833", YELLOW},    [IDS_HOST_STAGING] = {"#a8641d", "#c98543", YELLOW},
    [IDS_HOST_RUNTIME] = {"#8a6d12", "#a88a2c", YELLOW}, [IDS_HOST_REGION] = {"#f0a95c", "#b8722a", YELLOW},
    [IDS_HOST_PYTHON] = {"#f0cd4a", "#f5dc7d", YELLOW},  [IDS_HOST_DISPATCH] = {"#d9a441", "#8f6a1c", YELLOW},
    [IDS_HOST_UNKNOWN] = {"#e3d3a6", "#6e6238", YELLOW}, [IDS_DEVICE_IN_PROGRAM] = {"#7f868e", "#9aa2ab", GREY},
    [IDS_DEVICE_QUEUE] = {"#a9b0b7", "#747c85", GREY},   [IDS_DEVICE_UNKNOWN] = {"#d0d5da", "#4c535b", GREY},
    [IDS_PROFILER] = {"#5b6168", "#bcc3ca", GREY},       [IDS_NO_ACCOUNT] = {"#eceef0", "#2a2f35", GREY},
};

const struct ids_account_look *ids_account_look(enum ids_account account) {
    return &looks[account < IDS_ACCOUNT_COUNT ? account : IDS_NO_ACCOUNT];
}
