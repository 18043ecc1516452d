/* devices.h - the accelerators of this machine, as the kernel shows them. */
#ifndef IDS_LIB_CAPTURE_DEVICES_H
#define IDS_LIB_CAPTURE_DEVICES_H

/* Their number; `root` is the prefix of /dev. A WSL machine shows its GPUs as one. */
int ids_devices_gpus(const char *root);
int ids_devices_tpus(const char *root);

/* Whether a program of this name starts processes on other machines, whose devices count instead. */
int ids_devices_launch_elsewhere(const char *program);

#endif
