/* short_timer.so - for LD_PRELOAD: timers of CPU time (setitimer) run out IDS_TIMER_DIVIDE times as early, so that a
 * test of what happens when they do takes milliseconds. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>

#define US_PER_S 1000000L

static struct timeval shorter(struct timeval time, long divisor) {
    const long us = (time.tv_sec * US_PER_S + time.tv_usec) / divisor;
    return (struct timeval){us / US_PER_S, us % US_PER_S};
}

int setitimer(__itimer_which_t which, const struct itimerval *set, struct itimerval *ret_old) {
    typedef int set_function(__itimer_which_t, const struct itimerval *, struct itimerval *);
    union {
        void *object;
        set_function *call;
    } real = {dlsym(RTLD_NEXT, "setitimer")};
    const char *divide = getenv("IDS_TIMER_DIVIDE");
    const long divisor = divide ? atol(divide) : 1;
    struct itimerval divided = *set;
    if (divisor > 1) divided = (struct itimerval){shorter(set->it_interval, divisor), shorter(set->it_value, divisor)};
    return real.call(which, &divided, ret_old);
}
