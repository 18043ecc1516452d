/* jobs.h - how many processors this process may use: those that it may run on (sched_setaffinity), or fewer where the
 * control group of a container or a batch job has a quota of their time.
 *
 * Control groups: Documentation/admin-guide/cgroup-v2.rst (cpu.max) and scheduler/sched-bwc.rst (cpu.cfs_quota_us) of
 * Linux.
 */
#ifndef IDS_LIB_IO_JOBS_H
#define IDS_LIB_IO_JOBS_H

/* At least 1. */
unsigned ids_processors(void);

/* What the quotas of the groups that the file `groups` (/proc/self/cgroup) names allow, and of those above them,
 * rounded up; the groups lie below `root` (/sys/fs/cgroup). 0 where there is none that can be read. */
unsigned ids_cgroup_processors(const char *groups, const char *root);

#endif
