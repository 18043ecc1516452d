/* progress.h - a sign of life on standard error for work that takes over a second.
 *
 * Only on a terminal; the line is wiped when the work is done, so that nothing of it stays.
 */
#ifndef IDS_LIB_CLI_PROGRESS_H
#define IDS_LIB_CLI_PROGRESS_H

/* Begins, or goes on to the next thing: "reading host.xplane.pb (99 MB)". */
void ids_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void ids_progress_end(void);

#endif
