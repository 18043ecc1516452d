/* glibc.h - makes libidsprof_agent.so and the collectors run with older C libraries than the one they were built with.
 *
 * Forced in front of every source of them. Linking binds a function to its newest version; glibc 2.34 gave all that
 * moved from libpthread and libdl into libc a new one, though the functions are the same. Here they are bound to the
 * version that they have had since 2.2.5 (x86-64) or 2.17 (aarch64), where a newer one is there at all;
 * tests/contract/test_agent_symbols.py holds it. pthread_create is weak in agent.c: a process of an older glibc may
 * lack libpthread, and then there is no thread of ours, which the agent says instead of failing to load. On other
 * architectures the newest versions are taken: what is built runs with that glibc or a newer one.
 */
#ifndef IDS_COLLECTORS_COMMON_GLIBC_H
#define IDS_COLLECTORS_COMMON_GLIBC_H

#include <features.h>

#if defined(__x86_64__)
#define IDS_GLIBC_OLD "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define IDS_GLIBC_OLD "GLIBC_2.17"
#endif

#if defined(IDS_GLIBC_OLD) && defined(__GLIBC__)
#define IDS_BIND_OLD(function) __asm__(".symver " #function ", " #function "@" IDS_GLIBC_OLD)
#if __GLIBC_PREREQ(2, 34)
IDS_BIND_OLD(pthread_create);
IDS_BIND_OLD(pthread_detach);
IDS_BIND_OLD(pthread_once);
IDS_BIND_OLD(dlopen);
IDS_BIND_OLD(dlsym);
IDS_BIND_OLD(dlclose);
IDS_BIND_OLD(dlerror);
IDS_BIND_OLD(dladdr);
#endif
#if __GLIBC_PREREQ(2, 27)
IDS_BIND_OLD(glob64); /* of 2.27 before: it took links that lead nowhere */
#endif
#endif

#endif
