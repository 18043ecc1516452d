/*
 * IDS_FORBID(function, why) makes every later use of a function or object an error that says why.
 *
 * Included by force, ahead of every source of a layer. An attribute and not `#pragma GCC poison`, because poison bans
 * the word: no variable could be called `open`, no field `exit`, and `__attribute__((format(printf, ...)))` would
 * break. The header that declares the function has to come first, so that inline versions (FORTIFY) are already parsed.
 */
#ifndef IDS_POISON_FORBID_H
#define IDS_POISON_FORBID_H

#ifdef __clang__
/* Clang cannot forbid what a system header has defined inline, which happens only with -O2; gcc builds still catch
 * it. */
#pragma clang diagnostic ignored "-Wignored-attributes"
#endif

#if __has_attribute(unavailable)
#define IDS_FORBID(name, why) extern __typeof__(name) name __attribute__((unavailable(why)))
#else
#define IDS_FORBID(name, why) extern __typeof__(name) name /* gcc before 12: newer compilers keep watch */
#endif

#endif
