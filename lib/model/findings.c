#include "lib/model/findings.h"

#include <stdlib.h>

void ids_findings_done(struct ids_findings *findings) {
    free(findings->devices);
    free(findings->peaks);
    free(findings->steps);
    free(findings->work);
    free(findings->host_activities);
    free(findings->launches);
    for (size_t i = 0; i < findings->interval_lists; i++) ids_found_intervals_done(&findings->intervals[i]);
    free(findings->intervals);
    for (size_t i = 0; i < findings->culprit_numbers_count; i++) free(findings->culprit_numbers[i]);
    free(findings->culprit_numbers);
    free(findings->culprits);
    free(findings->device_steps);
    ids_arena_done(&findings->texts);
    *findings = (struct ids_findings){0};
}
