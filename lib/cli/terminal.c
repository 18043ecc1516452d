#include "lib/cli/terminal.h"

#include "lib/base/quantity.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST = 10000 };

const char *ids_colour_choice(int i) {
    static const char *const names[] = {"auto", "always", "never", NULL};
    return names[i];
}

static int64_t found_width(void) {
    const char *columns = getenv("COLUMNS");
    struct ids_error ignored;
    int64_t width;
    if (columns && ids_parse_count(columns, &width, &ignored) == 0 && width > 0) return width;
    struct winsize window;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        return window.ws_col;
    return IDS_WIDTH_ELSEWHERE;
}

int ids_terminal_width(int64_t asked) {
    int64_t width = asked > 0 ? asked : found_width();
    return (int)(width < IDS_WIDTH_LEAST ? IDS_WIDTH_LEAST : width > WIDEST ? WIDEST : width);
}

int ids_terminal_colour(enum ids_colour asked) {
    if (asked != IDS_COLOUR_AUTO) return asked == IDS_COLOUR_ALWAYS;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return 0;
    return isatty(STDOUT_FILENO) && !(term && !strcmp(term, "dumb"));
}
