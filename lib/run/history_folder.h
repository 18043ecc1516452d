/* history_folder.h - which capture's history of steps a folder without profiles has. */
#ifndef IDS_LIB_RUN_HISTORY_FOLDER_H
#define IDS_LIB_RUN_HISTORY_FOLDER_H

/* The folder of the capture that wrote a history last: `path` itself, what `path` is the notes of (.idsprof), or one of
 * the captures in it, as in the folder of --output. To be freed; NULL: there is none. */
char *ids_history_folder(const char *path);
/* Likewise of a folder whose newest run has `profile`: a capture in it that ended later and has a history alone,
 * because its program was killed or no window was kept. To be freed; NULL: there is none. */
char *ids_newer_history(const char *path, const char *profile);

#endif
